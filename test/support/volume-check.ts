/** Runs a program on the volumes of a cluster that is parked, each in a pod of its own. */
import { pods as podResource } from '../../src/api/resource.ts';
import type { Pod } from '../../src/resources/children.ts';
import { containerSecurityContext, podSecurityContext } from '../../src/resources/podsecurity.ts';
import type { KubeClient } from '../../src/runtime/client.ts';
import { removeByName } from './kubernetes.ts';
import { until } from './until.ts';

export interface VolumeCheck {
  readonly namespace: string;
  /** Name of the PVC; the program finds the volume at `/volume`, read-only. */
  readonly claim: string;
  readonly image: string;
  readonly command: readonly string[];
}

/** Resolves with the exit code and what the program has printed. */
export async function checkVolume(
  client: KubeClient,
  { namespace, claim, image, command }: VolumeCheck,
): Promise<{ readonly code: number; readonly output: string }> {
  const name = `check-${claim}`;
  const ref = { resource: podResource, namespace, name };
  await client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: podSecurityContext,
      containers: [
        {
          name: 'check',
          image,
          imagePullPolicy: 'IfNotPresent',
          command,
          resources: { limits: { memory: '128Mi' } },
          securityContext: containerSecurityContext,
          volumeMounts: [{ name: 'volume', mountPath: '/volume', readOnly: true }],
        },
      ],
      volumes: [{ name: 'volume', persistentVolumeClaim: { claimName: claim } }],
    },
  });
  const code = await until(`${name} has ended`, async () => {
    const pod = (await client.get(ref)) as Pod;
    const { terminated } = (pod.status?.containerStatuses?.[0]?.state ?? {}) as { terminated?: { exitCode: number } };
    if (terminated === undefined) throw new Error(JSON.stringify(pod.status));
    return terminated.exitCode;
  });
  const output = await client.getText(`/api/v1/namespaces/${namespace}/pods/${name}/log`);
  await removeByName(client, await client.get(ref), { gracePeriodSeconds: 0 });
  return { code, output };
}
