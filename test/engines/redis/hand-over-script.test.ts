import { describe, expect, it } from 'vitest';
import { podIP, runPodScript } from '../../support/pod-scripts.ts';

const info = (...fields: readonly string[]): string => fields.join('\r\n');
const primary = info(
  'role:master',
  'slave0:ip=10.0.0.2,port=6379,state=online,offset=70,lag=0',
  'slave1:ip=10.0.0.3,port=6379,state=online,offset=70,lag=0',
  'slave2:ip=10.0.0.4,port=6379,state=wait_bgsave,offset=0,lag=0',
  'master_repl_offset:70',
);
const caughtUp = info('role:slave', 'slave_repl_offset:70');
const behind = info('role:slave', 'slave_repl_offset:69');

/** All is well: node 3 is promoted, and has node 2 as its replica. */
const world = {
  '"-p 6379 info replication"': primary,
  '"-h s0 -p 26379 sentinel master db"': ['ip', podIP, 'config-epoch', '1'].join('\n'),
  '"-h 10.0.0.2 -p 6379 info replication"': caughtUp,
  '"-h 10.0.0.3 -p 6379 info replication"': info(caughtUp, 'slave0:ip=10.0.0.2,port=6379,state=online'),
  '"-h s0 -p 26379 info sentinel"': 'sentinel_tilt:0',
  '"-h s0 -p 26379 sentinel replicas db"': '',
  '"-h s0 -p 26379 sentinel debug info-period "*': 'OK',
  '*"sentinel failover db"': 'OK',
  '"-h 10.0.0.2 -p 6379 role"': 'slave',
  '"-h 10.0.0.3 -p 6379 role"': 'master',
  '"-p 6379 "*': 'OK',
};

/** What the stop of a pod changes anywhere, in order. */
async function told(cli: Readonly<Record<string, string>>): Promise<string[]> {
  const { code, asked } = await runPodScript('hand-over.sh', { cli });
  expect(code).toBe(0);
  return asked.filter((line) => /pause|failover|replicaof/.test(line));
}

const pause = expect.stringMatching(/^-p 6379 client pause \d+ write$/);
const ask = '-h s0 -p 26379 sentinel failover db';
const resume = '-p 6379 client unpause';

describe('the stop of a data node', () => {
  it.each<readonly [story: string, change: Readonly<Record<string, string | undefined>>, told: readonly unknown[]]>([
    [
      'R7: a primary hands over and follows whom Sentinel promoted',
      {},
      [pause, ask, '-p 6379 replicaof 10.0.0.3 6379', resume],
    ],
    [
      'R7: a server from elsewhere that copies from it and lets nobody in is not waited for',
      { '"-h 10.0.0.2 -p 6379 info replication"': 'NOAUTH Authentication required.' },
      [pause, ask, '-p 6379 replicaof 10.0.0.3 6379', resume],
    ],
    [
      'R7: nor one with priority 0',
      {
        '"-h 10.0.0.2 -p 6379 info replication"': info(behind, 'slave_priority:0'),
        '"-h 10.0.0.2 -p 6379 config get masteruser"': 'masteruser\n',
      },
      [pause, ask, '-p 6379 replicaof 10.0.0.3 6379', resume],
    ],
    [
      'R7: but a node of the cluster is, whose priority may change just now',
      {
        '"-h 10.0.0.2 -p 6379 info replication"': info(behind, 'slave_priority:0'),
        '"-h 10.0.0.2 -p 6379 config get masteruser"': 'masteruser\nclusterwright/apps/db',
      },
      [pause, resume],
    ],
    ['a replica has nothing to hand over', { '"-p 6379 info replication"': caughtUp }, []],
    [
      'a primary without replicas stops at once',
      { '"-p 6379 info replication"': info('role:master', 'master_repl_offset:70') },
      [],
    ],
    [
      'a primary that the sentinels do not know stops at once',
      { '"-h s0 -p 26379 sentinel master db"': 'ip\n10.0.0.9\nconfig-epoch\n1' },
      [],
    ],
    [
      'R7: nobody is asked while every replica is behind',
      { '"-h 10.0.0.2 -p 6379 info replication"': behind, '"-h 10.0.0.3 -p 6379 info replication"': behind },
      [pause, resume],
    ],
    [
      'R7: nobody is asked while a replica has told Sentinel nothing since: it elects by what it heard last',
      { '"-h s0 -p 26379 sentinel replicas db"': 'name\ndb\nflags\nslave\ninfo-refresh\n99999' },
      [pause, resume],
    ],
    [
      'R7: nor while it acts on nothing, since its clock has jumped',
      { '"-h s0 -p 26379 info sentinel"': 'sentinel_tilt:1' },
      [pause, resume],
    ],
    [
      'its sentinel ends meanwhile: writes do not stand still for that',
      { '"-h s0 -p 26379 sentinel debug info-period "*': undefined },
      [pause, resume],
    ],
    [
      'Sentinel refuses: writes go on until the end',
      { '*"sentinel failover db"': 'NOGOODSLAVE No suitable replica' },
      [pause, ask, resume],
    ],
    [
      'somebody else has asked: it is the same failover',
      { '*"sentinel failover db"': 'INPROG Failover already in progress' },
      [pause, ask, '-p 6379 replicaof 10.0.0.3 6379', resume],
    ],
    [
      'R7: it may not follow whom Sentinel promoted: that one takes writes, so the pause stays',
      { '"-p 6379 replicaof "*': "NOPERM this user has no permissions to run the 'replicaof' command" },
      [pause, ask, '-p 6379 replicaof 10.0.0.3 6379'],
    ],
    [
      'R7: Sentinel was asked and no replica answers any more: one may take writes by now, so the pause stays',
      { '"-h 10.0.0.2 -p 6379 role"': '', '"-h 10.0.0.3 -p 6379 role"': '' },
      [pause, ask],
    ],
  ])('%s', async (_, change, expected) => {
    const answers = Object.entries({ ...change, ...world, ...change }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    expect(await told(Object.fromEntries(answers))).toEqual(expected);
  });

  it('R7: asks nobody when other sentinels may take it for down by now: two failovers would meet', async () => {
    const { code, asked } = await runPodScript('hand-over.sh', { cli: world, config: { 'ask-within-ms': '0\n' } });
    expect([code, asked.filter((line) => /pause|failover|replicaof/.test(line))]).toEqual([0, [pause, resume]]);
  });

  it('alone, without sentinels, stops at once', async () => {
    const { code, asked } = await runPodScript('hand-over.sh', { cli: world, config: { sentinels: '' } });
    expect([code, asked]).toEqual([0, ['-p 6379 config set save ', '-p 6379 info persistence']]);
  });

  it('waits, not for ever, while a copy is written: the server would refuse the signal that comes once', async () => {
    const writing = {
      '"-p 6379 info persistence"': 'aof_rewrite_in_progress:1',
      '"-p 6379 info replication"': caughtUp,
    };
    const { code, asked } = await runPodScript('hand-over.sh', { cli: { ...writing, ...world, ...writing } });
    expect([code, asked.filter((line) => line === '-p 6379 info persistence').length]).toEqual([0, 20]);
  });
});
