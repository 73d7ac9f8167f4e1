/** Whether a pod connects to an address: a pod of its own for each attempt, as a client that a NetworkPolicy judges. */
import { pods as podResource } from '../../src/api/resource.ts';
import type { Pod } from '../../src/resources/children.ts';
import { containerSecurityContext, podSecurityContext } from '../../src/resources/podsecurity.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { until } from './until.ts';

export interface Attempt {
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly host: string;
  readonly port: number;
}

/** Longer than the second packet of a connection waits: the first can come before the API server knows the address of its pod. */
const limitSeconds = 8;
let attempts = 0;

/** `open`, or what connect(2) answers, such as `timed out`. */
export async function attemptToConnect(
  client: KubeClient,
  { namespace, labels = {}, host, port }: Attempt,
): Promise<string> {
  attempts += 1;
  const name = `attempt-${attempts}`;
  const program = `import socket
try:
  socket.create_connection(("${host}", ${port}), ${limitSeconds})
  said = "open"
except OSError as error:
  said = str(error)
open("/dev/termination-log", "w").write(said)`;
  await client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: podSecurityContext,
      containers: [
        {
          name: 'client',
          image: imageReference('postgres:17'),
          imagePullPolicy: 'IfNotPresent',
          command: ['python3', '-c', program],
          securityContext: containerSecurityContext,
        },
      ],
    },
  });
  return until(`the attempt to connect to ${host}:${port} over`, async () => {
    const { status } = (await client.get({ resource: podResource, namespace, name })) as Pod;
    const said = status?.containerStatuses?.[0]?.state?.terminated?.message;
    if (said === undefined) throw new Error(JSON.stringify(status));
    return said;
  });
}
