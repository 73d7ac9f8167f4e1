/** The Helm chart as files by their paths. Its objects come from the constructs, its values from one table. */
import { stringify } from 'yaml';
import { Crds } from '../../constructs/crds.ts';
import { operatorName, operatorNamespace } from '../../constructs/operator-identity.ts';
import { engines } from '../../engines/index.ts';
import { handlersOf } from '../../jobs/handlers.ts';
import { version } from '../../system/version.ts';
import { choose } from './choice.ts';
import { contradictions, helpers, notes } from './hand-written.ts';
import { checkTemplate, objectsOf, operatorTemplate } from './operator-template.ts';
import { toTemplate } from './placeholders.ts';
import { valuesSchema, valuesTable, valuesYaml } from './values-files.ts';
import { writeObject } from './write.ts';

export function helmChart(): Readonly<Record<string, string>> {
  return {
    'Chart.yaml': stringify(chartFile(), { lineWidth: 0 }),
    'README.md': readme(),
    'values.yaml': valuesYaml(),
    'values.schema.json': valuesSchema(),
    'templates/_helpers.tpl': helpers,
    'templates/NOTES.txt': notes,
    'templates/crds.yaml': crdsTemplate(),
    'templates/operator.yaml': `${contradictions}${operatorTemplate()}`,
    'templates/tests/check.yaml': checkTemplate(),
  };
}

const description = 'An operator for stateful clusters on Kubernetes that shows what it will do before it does it.';

function chartFile(): object {
  const kinds = handlersOf(engines).map(({ kind }) => kind.resource);
  return {
    apiVersion: 'v2',
    name: operatorName,
    description,
    type: 'application',
    version,
    appVersion: version,
    // ValidatingAdmissionPolicy. The suffix admits versions such as 1.33.4-gke.1.
    kubeVersion: '>=1.30.0-0',
    keywords: ['operator', 'database', ...engines.map(({ definition }) => definition.name)],
    annotations: {
      'artifacthub.io/category': 'database',
      'artifacthub.io/license': 'Apache-2.0',
      'artifacthub.io/operator': 'true',
      'artifacthub.io/prerelease': 'true',
      'artifacthub.io/crds': stringify(
        kinds.map((resource) => ({
          kind: resource.kind,
          version: resource.version,
          name: `${resource.plural}.${resource.group}`,
          displayName: resource.kind,
          description: `The kind ${resource.kind} of clusterwright`,
        })),
      ),
    },
  };
}

/** Helm creates them before everything else, upgrades them, and never deletes them. */
function crdsTemplate(): string {
  const crds = objectsOf((scope) => void new Crds(scope, 'crds')).map((crd) => {
    const { metadata, ...rest } = crd as { readonly metadata: { readonly annotations?: object } };
    const annotations = { ...metadata.annotations, 'helm.sh/resource-policy': 'keep' };
    return { ...rest, metadata: { ...metadata, annotations } };
  });
  const none = { type: 'list', items: [] } as const;
  const template = choose('$.Values.crds.install', toTemplate(crds as never), none);
  return template.type === 'list' ? `${template.items.map(writeObject).join('\n')}\n` : '';
}

function readme(): string {
  return `# clusterwright

${description}

\`\`\`
$ kubectl create namespace shop
$ helm install ${operatorName} . --namespace ${operatorNamespace} --create-namespace \\
    --set image.repository=registry.example/clusterwright --set image.tag=0.1.0 --set 'watch.namespaces={shop}'
$ helm test ${operatorName} --namespace ${operatorNamespace}
\`\`\`

By default, the operator watches the namespace of the release. \`watch.namespaces\` names others, and \`watch.all\` is all of
them. A namespace can have only one release. Two releases must not watch the same namespace.

[Install with Helm](../../../docs/install.md#install-with-helm) covers upgrades, rollbacks and uninstalling.
\`helm uninstall\` keeps the CRDs, the custom resources and the databases.

## Values

${valuesTable()}
`;
}
