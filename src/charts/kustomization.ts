/** What `kubectl apply -k dist/` and kustomize overlays take: the CRDs and the operator, without samples. */
import { stringify } from 'yaml';
import { operatorName } from '../constructs/operator-identity.ts';

const deployment = { kind: 'Deployment', name: operatorName } as const;
const container = 'spec.template.spec.containers.[name=controller]';

export function kustomization(): string {
  return stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: ['0000-crds.k8s.yaml', '0001-operator.k8s.yaml'],
    // `kustomize edit set image` changes the first place that names the image, and this the second one.
    replacements: [
      {
        source: { ...deployment, fieldPath: `${container}.image` },
        targets: [{ select: deployment, fieldPaths: [`${container}.env.[name=CLUSTERWRIGHT_AGENT_IMAGE].value`] }],
      },
    ],
  });
}
