/** A pod that asks the operator for its readiness over the network, as a monitoring system does, and ends. */
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { commonPodSpec, containerSecurityContext, operatorPort, type PodOptions } from './operator-deployment.ts';
import { operatorLabels, operatorName } from './operator-identity.ts';

export interface OperatorCheckOptions extends PodOptions {
  readonly namespace: string;
}

const url = `http://${operatorName}-metrics:${operatorPort}/readyz`;

/** A minute: the endpoints of a Service follow its pods with a delay. */
const script = `for (let attempt = 1; ; attempt += 1) {
  const answer = await fetch("${url}", { signal: AbortSignal.timeout(2000) }).then(
    async (response) => [response.status, await response.text()].join(" "),
    (error) => String(error.cause ?? error),
  );
  process.stdout.write(answer + "\\n");
  if (answer.startsWith("200")) break;
  if (attempt === 30) process.exit(1);
  await new Promise((resolve) => setTimeout(resolve, 2000));
}`;

export function operatorCheck(scope: Construct, options: OperatorCheckOptions): void {
  const { namespace, image, imagePullPolicy, labels, annotations } = options;
  new k8s.KubePod(scope, 'check', {
    metadata: {
      name: `${operatorName}-check`,
      namespace,
      // Not the operator's labels: its Service and its NetworkPolicy select by them.
      labels: { ...labels, ...operatorLabels, 'app.kubernetes.io/component': 'check' },
      // The pod stays until the next run: `helm test --logs` prints what it wrote.
      annotations: { ...annotations, 'helm.sh/hook': 'test' },
    },
    spec: {
      ...commonPodSpec(options),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      containers: [
        {
          name: 'check',
          image,
          imagePullPolicy,
          command: ['node', '--input-type=module', '--eval', script],
          resources: {
            requests: { cpu: k8s.Quantity.fromString('10m'), memory: k8s.Quantity.fromString('64Mi') },
            limits: { memory: k8s.Quantity.fromString('128Mi') },
          },
          securityContext: containerSecurityContext,
        },
      ],
    },
  });
}
