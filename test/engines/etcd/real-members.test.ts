/** The whole engine against real members: what people ask of it. Every story ends settled, with the data that was written. */
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/engine/engine-context.ts';
import { callEtcd } from '../../../src/engines/etcd/client/gateway.ts';
import { exchangeOver } from '../../../src/runtime/http-exchange.ts';
import { dialTcp } from '../../../src/system/dial.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import { type Certificates, openAuthority } from '../../support/etcd-certificates.ts';
import { generatedPassword } from '../../support/etcd-host.ts';
import { etcdOperator } from '../../support/etcd-operator.ts';
import { asked, base64, claims, get, hashes, leaderOf, put, roles, storiesFrom } from '../../support/etcd-story.ts';
import { rejection } from '../../support/rejection.ts';
import { until } from '../../support/until.ts';

const story = storiesFrom(60);

describe.skipIf(etcdBinaries.size === 0).concurrent('real members', { timeout: 600_000 }, () => {
  it(
    'form at once, and are sealed: from then on a blank volume starts nothing',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      expect(Object.values(roles(operator)).sort()).toEqual(['leader', 'voter', 'voter']);
      expect(host.object('ConfigMap', 'db-members')?.data).toMatchObject({
        'db-1.state': 'existing',
        'db-1.cluster': 'db-1=http://db-1-0.db.apps.svc:2380',
      });
      host.loseVolume('db-1-0');
      // Nobody is there but Kubernetes.
      await until('it asks the others, in vain', async () => {
        await host.turn();
        expect(host.log('db-1-0')).toContain('cannot fetch cluster info from peer urls');
        const ready = host.children().pods.filter(({ status }) => status?.conditions?.[0]?.status === 'True');
        expect(ready.map(({ metadata }) => metadata.name)).toEqual(['db-0-0', 'db-2-0']);
      });
    }),
  );

  it(
    'grow to five and shrink to one; who comes after that meets no old data',
    story(async (host) => {
      const operator = etcdOperator(host, { replicas: 1 });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ replicas: 3 });
      await operator.settle();
      operator.change({ replicas: 5 });
      await operator.settle();
      const once = [...new Set(asked(operator))];
      expect(once.filter((line) => line.startsWith('add'))).toEqual([
        ...[1, 2, 3, 4].map((i) => `add db-${i} to the members, without a vote`),
      ]);
      expect(once.filter((line) => line.startsWith('give')).sort()).toEqual(
        [1, 2, 3, 4].map((i) => `give db-${i}-0 a vote, if it has caught up`),
      );
      expect(
        await hashes(
          host,
          [0, 1, 2, 3, 4].map((i) => `db-${i}-0`),
        ),
      ).toHaveProperty('size', 1);
      operator.clear();
      operator.change({ replicas: 1 });
      await operator.settle();
      const left = Object.keys(roles(operator));
      expect(left).toEqual([leaderOf(operator)]);
      expect(await get(host, left[0] ?? '', 'a')).toBe('1');
      expect(asked(operator).filter((line) => line.startsWith('make'))).toEqual([]);
      operator.change({ replicas: 3 });
      await operator.settle();
      expect(Object.keys(roles(operator))).toEqual([...left, 'db-5-0', 'db-6-0']);
      expect(Object.values(claims(host)).sort()).toEqual(['held', 'held', 'held', ...Array(4).fill('retired')]);
      expect(await get(host, 'db-6-0', 'a')).toBe('1');
    }),
  );

  it(
    'that lose their process come back by themselves',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.clear();
      host.kill(leaderOf(operator));
      await operator.until('MembersNotReady', 'QuorumLost');
      await operator.settle();
      expect(asked(operator)).toEqual([]);
      expect(await get(host, 'db-2-0', 'a')).toBe('1');
    }),
  );

  it(
    'restart one at a time for a new setting, the leader last, after it has handed over',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      const leader = leaderOf(operator);
      const others = Object.keys(roles(operator)).filter((pod) => pod !== leader);
      operator.clear();
      operator.change({ config: { snapshotCount: 20_000 } });
      await operator.settle();
      expect(asked(operator)).toEqual([
        ...others.map((pod) => `delete Pod ${pod}: it runs an older template`),
        expect.stringMatching(new RegExp(`^make .* the leader: ${leader} is the last to restart`)),
        `delete Pod ${leader}: it runs an older template`,
      ]);
    }),
  );

  it.skipIf(etcdBinaries.size < 2)(
    'go from 3.5 to 3.6 one at a time, and keep what was written',
    story(async (host) => {
      const [newer = '', older = ''] = [...etcdBinaries.keys()];
      const operator = etcdOperator(host, { version: older });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      expect(operator.cluster.status?.version).toBe(older);
      operator.clear();
      operator.change({ version: newer });
      await operator.settle();
      expect(operator.cluster.status?.members?.map(({ version }) => version)).toEqual([newer, newer, newer]);
      expect(asked(operator).length).toBe(4);
      expect(await get(host, 'db-1-0', 'a')).toBe('1');
      expect(await hashes(host, ['db-0-0', 'db-1-0', 'db-2-0'])).toHaveProperty('size', 1);
    }),
  );

  it(
    'are parked, all at once, and come back with their data',
    story(async (host) => {
      const operator = etcdOperator(host);
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ replicas: 0 });
      await operator.settle();
      expect(host.children().pods).toEqual([]);
      expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('Parked');
      operator.change({ replicas: 3 });
      await operator.settle();
      expect(await get(host, 'db-1-0', 'a')).toBe('1');
    }),
  );

  it(
    'ask who is asking when that is wanted, and the operator goes on with everything',
    story(async (host) => {
      const operator = etcdOperator(host, { replicas: 1 });
      await operator.settle();
      await put(host, 'db-0-0', 'a', '1');
      operator.change({ auth: { enabled: true } });
      await operator.settle();
      await expect(get(host, 'db-0-0', 'a')).rejects.toThrow('user name is empty');
      operator.change({ replicas: 3 });
      await operator.settle();
      const credentials = { name: 'root', password: generatedPassword };
      const { token } = await callEtcd(host.io, host.address('db-2-0'), 'auth/authenticate', credentials, 5000);
      const key = { key: base64('a') };
      const { count } = await callEtcd(host.io, host.address('db-2-0'), 'kv/range', key, 5000, {
        token: String(token),
      });
      expect(count).toBe('1');
      host.provide('db-root', { password: 'second', 'password-previous': generatedPassword });
      await operator.settle();
      const login = (password: string): Promise<unknown> =>
        callEtcd(host.io, host.address('db-1-0'), 'auth/authenticate', { name: 'root', password }, 5000);
      await expect(login('second')).resolves.toHaveProperty('token');
      await expect(login(generatedPassword)).rejects.toThrow('invalid user ID or password');
      operator.change({ auth: { enabled: false } });
      await operator.settle();
      expect(await get(host, 'db-1-0', 'a')).toBe('1');
      expect(operator.history.join('\n')).toContain('give root the present password');
      expect(operator.history.join('\n')).not.toMatch(new RegExp(`${generatedPassword}|second`));
    }),
  );

  it.each([...etcdBinaries.keys()])(
    '%s: ask who is asking though one of those that form the cluster has yet to start, and so does that one when it does',
    (version) =>
      story(async (host) => {
        host.hold('db-2-0');
        const operator = etcdOperator(host, { version, auth: { enabled: true } });
        await until('nobody else is let in', async () => {
          await operator.pass();
          expect((await rejection(get(host, 'db-0-0', 'a'))).message).toContain('user name is empty');
        });
        await operator.until('MembersNotReady');
        host.hold();
        await operator.settle();
        await expect(get(host, 'db-2-0', 'a')).rejects.toThrow('user name is empty');
      })(),
  );

  it.each([...etcdBinaries.keys()])('%s: speak TLS to each other, to clients and to the operator', (version) =>
    story(async (host) => {
      const addresses = Array.from({ length: 5 }, (_, i) => host.address(`db-${i}-0`));
      const authority = openAuthority();
      host.provide('members', authority.issue(addresses));
      const tls = { client: { secretRef: { name: 'members' } }, peer: { secretRef: { name: 'members' } } };
      const operator = etcdOperator(host, { version, replicas: 1, tls });
      await operator.settle();
      await expect(put(host, 'db-0-0', 'a', '1')).rejects.toThrow();
      operator.change({ replicas: 3, auth: { enabled: true } });
      await operator.settle();
      expect(Object.values(roles(operator)).sort()).toEqual(['leader', 'voter', 'voter']);
      // The authority signs for others, too: theirs are no peers.
      const asPeer = (shown: Certificates): Promise<HttpResponse> => {
        const material = { ca: shown['ca.crt'], cert: shown['tls.crt'], key: shown['tls.key'] };
        const request = { host: host.address('db-0-0'), port: 2380, method: 'GET', path: '/version' } as const;
        const signal = AbortSignal.timeout(5000);
        return exchangeOver(dialTcp, { ...request, tls: { ...material, servername: 'db-0-0.db.apps.svc' }, signal });
      };
      expect(await asPeer(authority.issue(addresses))).toMatchObject({ status: 200 });
      await expect(asPeer(authority.issue([], { name: 'other', namespace: 'apps' }))).rejects.toThrow();
      // Renewed: nobody restarts for it.
      host.provide('members', authority.issue(addresses));
      operator.clear();
      await operator.settle();
      expect(asked(operator)).toEqual([]);
      // Another authority comes beside the old one, then certificates of it, then the old one goes.
      const successor = openAuthority();
      const [old, fresh] = [authority.issue(addresses), successor.issue(addresses)];
      const trusted = old['ca.crt'] + fresh['ca.crt'];
      for (const certificates of [{ ...old, 'ca.crt': trusted }, { ...fresh, 'ca.crt': trusted }, fresh]) {
        host.provide('members', certificates);
        await operator.settle();
      }
      expect(asked(operator).filter((line) => line.startsWith('delete Pod')).length).toBe(6);
      authority.close();
      successor.close();
      operator.change({ replicas: 5 });
      await operator.settle();
      expect(Object.keys(roles(operator)).length).toBe(5);
    })(),
  );
});
