/** etcd in the sandbox, in two versions, with what restores its snapshots and its client. */
import type { GoProgram, ImageRecipe } from '../../engine/image-recipe.ts';

/** As the Go modules are tagged. `before`: the minor before, for upgrades. */
export const etcdVersions = { current: 'v3.6.16', before: 'v3.5.35' } as const;

interface EtcdPrograms {
  readonly server: GoProgram;
  /** Restores snapshots; a module of its own, released with the server. */
  readonly restorer: GoProgram;
  /** For people: `kubectl exec` finds it in the released image, too. */
  readonly client: GoProgram;
}

function programsOf(version: string, suffix: string): EtcdPrograms {
  const program = (name: string, part: string): GoProgram => {
    const module = `go.etcd.io/etcd/${part}/v3`;
    return { name: `${name}${suffix}`, package: module, source: { name, module, version } };
  };
  return {
    server: program('etcd', 'server'),
    restorer: program('etcdutl', 'etcdutl'),
    client: program('etcdctl', 'etcdctl'),
  };
}

export const etcdPrograms: Readonly<Record<keyof typeof etcdVersions, EtcdPrograms>> = {
  current: programsOf(etcdVersions.current, ''),
  before: programsOf(etcdVersions.before, '-before'),
};

/** Like the image that it stands in for: there is no shell in it. */
const image = (name: string, { server, restorer, client }: EtcdPrograms): ImageRecipe => ({
  name,
  standsInFor: [`gcr.io/etcd-development/etcd:${server.source.version}`],
  layers: [
    { kind: 'program', program: server, to: '/usr/local/bin/etcd' },
    { kind: 'program', program: restorer, to: '/usr/local/bin/etcdutl' },
    { kind: 'program', program: client, to: '/usr/local/bin/etcdctl' },
  ],
  config: { entrypoint: ['/usr/local/bin/etcd'] },
});

export const etcdImages: readonly ImageRecipe[] = [
  image('etcd:3.5', etcdPrograms.before),
  image('etcd:3.6', etcdPrograms.current),
];
