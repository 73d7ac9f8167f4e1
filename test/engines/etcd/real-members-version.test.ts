/** Up and down between the minors of real members: what is asked of etcd, in which order, and that all data is there. */
import { describe, expect, it } from 'vitest';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { callEtcd } from '../../../src/engines/etcd/client/gateway.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import type { EtcdHost } from '../../support/etcd-host.ts';
import { type EtcdOperator, etcdOperator } from '../../support/etcd-operator.ts';
import { get, hashes, leaderOf, put, roles, storiesFrom } from '../../support/etcd-story.ts';
import { until } from '../../support/until.ts';

const story = storiesFrom(140);
const [six = '', five = ''] = [...etcdBinaries.keys()];
const pods = ['db-0-0', 'db-1-0', 'db-2-0'];

const versions = ({ cluster }: EtcdOperator): (string | undefined)[] =>
  (cluster.status?.members ?? []).map(({ version }) => version);

/** What was asked of etcd and of Kubernetes about restarts, each line once though it may have been repeated. */
const changes = ({ history }: EtcdOperator): string[] =>
  history.filter(
    (line, i) => /^(allow|cancel|make|add|remove|delete Pod|delete StatefulSet)/.test(line) && line !== history[i - 1],
  );

async function expectSound(host: EtcdHost, operator: EtcdOperator, version: string, members = pods): Promise<void> {
  expect(versions(operator)).toEqual(members.map(() => version));
  for (const pod of members) expect(await get(host, pod, 'a')).toBe('1');
  expect(await hashes(host, members)).toHaveProperty('size', 1);
}

/** Whether etcd has no downgrade under way: it would allow the next one. */
async function mayGoDownTo(host: EtcdHost, version: string): Promise<boolean> {
  const question = { action: 'VALIDATE', version };
  return callEtcd(host.io, host.address('db-0-0'), 'maintenance/downgrade', question, 5000).then(
    () => true,
    () => false,
  );
}

/** Passes until that many members run the version. */
async function untilSome(operator: EtcdOperator, version: string, count: number): Promise<void> {
  const deadline = performance.now() + 240_000;
  while (versions(operator).filter((found) => found === version).length < count) {
    if (performance.now() > deadline) throw new Error(operator.history.join('\n'));
    await operator.pass();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe.skipIf(etcdBinaries.size < 2).concurrent('members of another minor', { timeout: 600_000 }, () => {
  it(
    'go from 3.5 to 3.6, back to 3.5 when etcd has prepared that, and up again',
    story(async (host) => {
      const operator = etcdOperator(host, { version: five });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ version: six });
      await operator.settle();
      await expectSound(host, operator, six);
      expect(changes(operator).filter((line) => /allow|cancel/.test(line))).toEqual([]);

      operator.clear();
      const leader = leaderOf(operator);
      operator.change({ version: five });
      await operator.settle();
      await expectSound(host, operator, five);
      const others = pods.filter((pod) => pod !== leader);
      expect(changes(operator)).toEqual([
        'allow the members to go back to 3.5',
        ...others.map((pod) => `delete Pod ${pod}: it runs an older template`),
        expect.stringMatching(new RegExp(`^make .* the leader: ${leader} is the last to restart`)),
        `delete Pod ${leader}: it runs an older template`,
      ]);
      // Settled means that it is over.
      expect(await mayGoDownTo(host, '3.4.0')).toBe(true);

      operator.change({ version: six });
      await operator.settle();
      await expectSound(host, operator, six);
    }),
  );

  it(
    'of which one has gone back go up again when that is wanted: the downgrade is cancelled first',
    story(async (host) => {
      const operator = etcdOperator(host, { version: six });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ version: five });
      operator.clear();
      await untilSome(operator, five, 1);
      const restarts = (): number => changes(operator).filter((line) => line.startsWith('delete Pod')).length;
      const gone = restarts();
      operator.clear();
      operator.change({ version: six });
      await operator.settle();
      await expectSound(host, operator, six);
      expect(changes(operator)[0]).toBe(`cancel the downgrade: ${six} is wanted`);
      expect(restarts()).toBe(gone);
    }),
  );

  it(
    'of which two have gone up go back without a downgrade: the cluster has never left 3.5',
    story(async (host) => {
      const operator = etcdOperator(host, { version: five });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ version: six });
      await untilSome(operator, six, 2);
      operator.clear();
      operator.change({ version: five });
      await operator.settle();
      await expectSound(host, operator, five);
      expect(changes(operator).filter((line) => line.startsWith('allow'))).toEqual([]);
    }),
  );

  it(
    'reach the same end when the operator dies after every single step',
    story(async (host) => {
      const operator = etcdOperator(host, { version: six }, { diesEarly: true });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      for (const version of [five, six]) {
        operator.change({ version });
        await operator.settle();
        await expectSound(host, operator, version);
      }
    }),
  );

  it(
    'E5: whose answers to the calls of a downgrade are lost are asked how far it is, not asked again',
    story(async (host) => {
      const cut: string[] = [];
      const io: EngineContext = {
        ...host.io,
        async exchange(request) {
          const answer = await host.io.exchange(request);
          const action = /"action":"(ENABLE|CANCEL)"/.exec(request.body ?? '')?.[1];
          if (!request.path.endsWith('/downgrade') || action === undefined) return answer;
          cut.push(action);
          throw new Error('the connection was reset');
        },
      };
      const operator = etcdOperator(host, { version: six }, { io });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ version: five });
      await until('a downgrade is asked for', async () => {
        if (cut.length === 0) await operator.pass();
        expect(cut).toEqual(['ENABLE']);
      });
      operator.change({ version: six });
      await operator.settle();
      expect(cut).toEqual(['ENABLE', 'CANCEL']);
      await expectSound(host, operator, six);
      operator.change({ version: five });
      await operator.settle();
      expect(cut).toEqual(['ENABLE', 'CANCEL', 'ENABLE']);
      await expectSound(host, operator, five);
    }),
  );

  it(
    'of which one is lost on the way back: it is replaced first, since nobody can join during a downgrade',
    story(async (host) => {
      const operator = etcdOperator(host, { version: six });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ version: five });
      await untilSome(operator, five, 1);
      const lost = Object.keys(roles(operator)).find(
        (pod, i) => versions(operator)[i] === six && pod !== leaderOf(operator),
      );
      operator.clear();
      host.loseVolume(lost ?? '');
      await operator.until('Replacing');
      await operator.settle();
      expect(changes(operator)).toContain(
        'cancel the downgrade: a member joins, which etcd allows only without a downgrade',
      );
      const members = Object.keys(roles(operator));
      expect(members).not.toContain(lost);
      await expectSound(host, operator, five, members);
    }),
  );
});
