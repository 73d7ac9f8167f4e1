/** Redis processes in memory that say of themselves exactly what a situation tells of them. */
import { hashOf, type Identity } from '../../src/engines/redis/client/identity.ts';
import { RedisError } from '../../src/engines/redis/client/resp.ts';
import { termCarrier } from '../../src/engines/redis/names.ts';
import type { DataNode, RedisObserved, SentinelNode } from '../../src/engines/redis/observe/observed.ts';
import { flat, info, type Process, type ScriptedOptions } from './scripted-redis.ts';

/** A silent one refuses the connection. Commands that change something are answered with OK and change nothing. */
export function processesOf({ data, sentinels }: RedisObserved): ScriptedOptions['processes'] {
  return Object.fromEntries([
    ...data.flatMap((node) => (node.state === 'silent' ? [] : [[`${node.address}:6379`, dataProcess(node)]])),
    ...sentinels.flatMap((node) => (node.state === 'silent' ? [] : [[`${node.address}:26379`, sentinelProcess(node)]])),
  ]);
}

/** The same processes, of a cluster that has an identity: they know it, copy by it, and have this password for clients. */
export function identified(
  processes: ScriptedOptions['processes'],
  identity: Identity,
  password: string,
): ScriptedOptions['processes'] {
  const login = `AUTH ${identity.user} ${identity.password}`;
  const knowing =
    (process: Process): Process =>
    (command) => {
      if (command === login) return 'OK';
      if (command === 'SENTINEL CONFIG GET sentinel-user') return ['sentinel-user', identity.user];
      if (command === 'SENTINEL CONFIG GET sentinel-pass') return ['sentinel-pass', identity.password];
      if (/^ACL GETUSER clusterwright-(users|trial)$/.test(command)) return null;
      if (command.startsWith('ACL GETUSER')) return ['flags', ['on'], 'passwords', [hashOf(password)]];
      const answer = process(command);
      if (!command.startsWith('CONFIG GET') || !Array.isArray(answer)) return answer;
      return [...answer, ...flat({ masteruser: identity.user, masterauth: identity.password })];
    };
  return Object.fromEntries(
    Object.entries(processes).map(([address, process]) => [address, process && knowing(process)]),
  );
}

function dataProcess(node: DataNode): Process {
  return (command) => {
    if (command === 'INFO') return info(infoOf(node));
    if (command === 'ROLE') return [node.role === 'primary' ? 'master' : 'slave'];
    if (!command.startsWith('CONFIG GET')) return 'OK';
    const { term } = node;
    const carried = term === undefined ? '' : `${term.wasPrimary ? 'primary' : 'replica'}-${term.number}`;
    const { port, digest } = node.tls ?? {};
    const tls =
      port === undefined
        ? {}
        : { 'tls-port': String(port), 'tls-cert-file': `/run/redis/tls/${digest}/tls.crt`, 'tls-auth-clients': 'no' };
    return flat({
      ...node.settings,
      ...tls,
      'replica-priority': node.failoverEligible ? '100' : '0',
      [termCarrier]: carried,
    });
  };
}

function infoOf(node: DataNode): Record<string, string | number> {
  const keys: Record<string, string> = node.empty ? {} : { db0: 'keys=1,expires=0,avg_ttl=0' };
  const common = { redis_version: node.version, loading: 0, ...keys };
  if (node.role === 'primary') {
    const replicas = node.replicas.map((ip, i) => [`slave${i}`, `ip=${ip},port=6379,state=online,offset=1,lag=0`]);
    return { ...common, role: 'master', master_repl_offset: node.offset, ...Object.fromEntries(replicas) };
  }
  return {
    ...common,
    role: 'slave',
    master_host: node.follows ?? '127.0.0.1',
    master_port: node.follows === undefined ? 1 : 6379,
    master_link_status: node.linkUp ? 'up' : 'down',
    slave_repl_offset: node.offset,
  };
}

function sentinelProcess({ view }: SentinelNode): Process {
  return (command) => {
    if (!/^SENTINEL (MASTER|REPLICAS|SENTINELS) /.test(command)) return 'OK';
    if (view === undefined) return new RedisError('ERR No such master with that name');
    const flags = (kind: string, isDown: boolean): string => (isDown ? `s_down,${kind}` : kind);
    if (command.startsWith('SENTINEL REPLICAS')) {
      return view.replicas.map((r) =>
        flat({ ip: r.address, flags: flags('slave', r.down), 'slave-priority': String(r.priority) }),
      );
    }
    if (command.startsWith('SENTINEL SENTINELS')) {
      return view.peers.map((peer) => flat({ ip: peer.address, flags: flags('sentinel', peer.down) }));
    }
    return flat({
      ip: view.primary,
      runid: view.authenticated ? 'c0ffee' : '',
      flags: `${flags('master', view.primaryDown)}${view.failingOver ? ',failover_in_progress' : ''}`,
      'last-ok-ping-reply': view.seesPrimary ? '300' : '3000',
      'config-epoch': String(view.epoch),
      ...view.settings,
    });
  };
}
