/** What the pods of a Job mount, in words: a pod whose Secret or PVC is missing is being started for ever, and only its Events say so. */
import type { KubeObject } from '../api/object.ts';

interface Volume {
  readonly secret?: { readonly secretName?: string; readonly optional?: boolean };
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly projected?: {
    readonly sources?: readonly { readonly secret?: { readonly name?: string; readonly optional?: boolean } }[];
  };
}

/** `Secret a, Secret b, PVC c`; empty where it mounts neither. */
export function mountedBy(job: KubeObject): string {
  const { template } = (job.spec ?? {}) as {
    readonly template?: { readonly spec?: { readonly volumes?: readonly Volume[] } };
  };
  const volumes = template?.spec?.volumes ?? [];
  const secrets = volumes.flatMap(({ secret, projected }) => [
    ...(secret?.optional === true ? [] : [secret?.secretName]),
    ...(projected?.sources ?? []).flatMap((source) => (source.secret?.optional === true ? [] : [source.secret?.name])),
  ]);
  const claims = volumes.map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName);
  const named = (kind: string, names: readonly (string | undefined)[]): string[] =>
    names.flatMap((name) => (name === undefined ? [] : [`${kind} ${name}`]));
  return [...new Set([...named('Secret', secrets), ...named('PVC', claims)])].join(', ');
}
