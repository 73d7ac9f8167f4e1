/** What servers answer the scripts of the pods in their stories, as `redis-cli` prints it. */
import { type PodStory, podIP } from '../../../support/pod-scripts.ts';

export function view(
  address: string,
  epoch = 1,
  replicas = 2,
  more: Readonly<Record<string, string | number>> = {},
): string {
  const fields = { name: 'db', ip: address, port: 6379, runid: 'c0ffee', flags: 'master', ...more };
  const figures = { 'last-ok-ping-reply': 400, 'num-slaves': replicas, 'config-epoch': epoch, ...more };
  return Object.entries({ ...fields, ...figures })
    .flat()
    .join('\n');
}
export const master = (sentinel: string): string => `"-h ${sentinel} -p 26379 sentinel master db"`;
export const replicas = (sentinel: string): string => `"-h ${sentinel} -p 26379 sentinel replicas db"`;
export const failover = '*"sentinel failover db"';
export const listed = (ip: string, flags = 'slave'): string =>
  ['name', `${ip}:6379`, 'ip', ip, 'port', '6379', 'runid', '', 'flags', flags].join('\n');
export const refusal = 'NOGOODSLAVE No suitable replica to promote';
export const itself = { [master('s0')]: view(podIP), '*"info-period"*': 'OK', [failover]: refusal };
export const lines = (...fields: readonly string[]): string => fields.join('\r\n');

export const primaryInfo = lines(
  'role:master',
  'slave0:ip=10.0.0.2,port=6379,state=online,offset=70,lag=0',
  'slave1:ip=10.0.0.3,port=6379,state=online,offset=70,lag=0',
  'slave2:ip=10.0.0.4,port=6379,state=wait_bgsave,offset=0,lag=0',
  'master_repl_offset:70',
);
export const caughtUp = lines('role:slave', 'slave_repl_offset:70');
/** A hand-over in which all goes well. */
export const whole = {
  '"-p 6379 info replication"': primaryInfo,
  [master('s0')]: view(podIP),
  [replicas('s0')]: '',
  '*"info-period"*': 'OK',
  '"-h 10.0.0.2 -p 6379 info replication"': caughtUp,
  '"-h 10.0.0.3 -p 6379 info replication"': lines(caughtUp, 'slave0:ip=10.0.0.2,port=6379,state=online'),
  [failover]: 'OK',
  '"-h 10.0.0.2 -p 6379 role"': 'slave',
  '"-h 10.0.0.3 -p 6379 role"': 'master\n70',
  '"-p 6379 "*': 'OK',
};
export const silent = (...members: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(whole).filter(([pattern]) => !members.some((member) => pattern.includes(member))));
export const noSentinels = { config: { sentinels: '' } };

export type Answers = NonNullable<PodStory['cli']>;
/** The first pattern that fits counts. */
export const first = (answers: Answers, others: Answers): Answers => ({
  ...answers,
  ...others,
  ...answers,
});
export const node = (status: string, host: string, syncing: number, more: Answers = {}): PodStory => ({
  cli: first(more, {
    '"-p 6379 info"': lines(
      'role:slave',
      `master_link_status:${status}`,
      `master_host:${host}`,
      `master_sync_in_progress:${syncing}`,
      'aof_enabled:1',
      'aof_rewrite_in_progress:0',
      'aof_rewrite_scheduled:0',
    ),
    [master('s0')]: view('10.0.0.9'),
    [replicas('s0')]: listed(podIP),
    '"-p 6379 role"': 'slave',
    '"-p 6379 "*': 'OK',
  }),
});

/** It has its data, and no link. */
export const behindSince = (behind: string): PodStory => ({
  ...node('down', '10.0.0.7', 0),
  mark: podIP,
  run: { behind },
});

export const copiesAsCluster: Answers = {
  '"-p 6379 config get masteruser"': 'masteruser\nclusterwright/apps/db',
  '"-p 6379 config get masterauth"': 'masterauth\nown',
};
export const introduced: Answers = {
  ...copiesAsCluster,
  '"-h s0 -p 26379 --user clusterwright/apps/db ping"': 'PONG',
  '"-h s1 -p 26379 --user clusterwright/apps/db ping"': 'PONG',
};
export const asPrimary: Answers = { '"-p 6379 info"': lines('role:master', 'aof_enabled:1'), '"-p 6379 "*': 'OK' };

export const written = ['aof_enabled:1', 'aof_rewrite_in_progress:0', 'aof_rewrite_scheduled:0'];
/** Its primary has ended after it had copied from it. */
export const hadLink: Answers = {
  '"-p 6379 info"': lines(
    ...['role:slave', 'master_link_status:down', 'master_link_down_since_seconds:2', 'master_sync_in_progress:0'],
    ...['loading:0', ...written],
  ),
};
