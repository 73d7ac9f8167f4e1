/** The passwords of etcd's root as the Secret of the cluster has them: the present one, and the one before where it is there. */
import { etcdNames } from '../../../src/engines/etcd/names.ts';
import type { SimulatedWorld } from '../subject.ts';

export function rootPasswords({ kubernetes, cluster }: SimulatedWorld): readonly string[] {
  const objects = kubernetes.objects();
  const { auth } = (objects.find(({ kind }) => kind === 'EtcdCluster')?.spec ?? {}) as {
    readonly auth?: { readonly secretRef?: { readonly name: string; readonly key?: string } };
  };
  const { name, key = 'password' } = auth?.secretRef ?? { name: etcdNames(cluster).root };
  const secret = objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === name);
  const data = (secret?.data ?? {}) as Readonly<Record<string, string>>;
  return [data[key], data[`${key}-previous`]].flatMap((value) =>
    value === undefined ? [] : [Buffer.from(value, 'base64').toString()],
  );
}
