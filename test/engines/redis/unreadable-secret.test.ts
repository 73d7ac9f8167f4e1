/** A Secret that cannot be read while an overlap ends, by the real reader: the operator goes on with what it knows. */
import { describe, expect, it } from 'vitest';
import { actRedis } from '../../../src/engines/redis/act/act.ts';
import { hashOf, identityUser } from '../../../src/engines/redis/client/identity.ts';
import { formersIn } from '../../../src/engines/redis/observe/accepted.ts';
import { observeRedis } from '../../../src/engines/redis/observe/observe.ts';
import { createSecretReader, engineIO } from '../../../src/runtime/engine-context.ts';
import { blankAccounts, blankClaims } from '../../support/blank-claims.ts';
import { FakeApi } from '../../support/fake-api.ts';
import { redisWorld } from '../../support/redis-situation.ts';
import { scriptedNetwork, settle } from '../../support/scripted-redis.ts';

const identity = { user: 'clusterwright/apps/db', password: 'own' };

async function story(withRetirement: boolean): Promise<string> {
  const { cluster, children } = redisWorld();
  expect(identityUser(cluster)).toBe(identity.user);
  const pods = children.pods.flatMap(({ status }) => status?.podIP ?? []);
  const answer = (command: string) =>
    command.startsWith('ACL GETUSER') ? ['flags', ['on'], 'passwords', ['old', 'new'].map(hashOf)] : 'OK';
  const network = scriptedNetwork({
    processes: Object.fromEntries(
      pods.flatMap((ip) => [6379, 26379].map((port) => [`${ip}:${port}`, answer] as const)),
    ),
  });
  const api = new FakeApi();
  const { clock } = network;
  const put = (name: string, password: string): void => {
    const labels = { 'app.kubernetes.io/managed-by': 'clusterwright', 'app.kubernetes.io/instance': 'db' };
    const data = { password: Buffer.from(password).toString('base64') };
    api.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'apps', labels }, data });
  };
  put('db-auth', 'new');
  put('db-internal', 'own');
  const reader = createSecretReader({ client: api.client(clock), clock, onValue: () => undefined });
  const secrets = engineIO({
    namespace: 'apps',
    secrets: reader,
    claims: blankClaims,
    accounts: blankAccounts,
    dial: () => Promise.reject(new Error('by the network')),
    clock,
    signal: network.io.signal,
  });
  const { secret, secretRefused, secretOutdated } = secrets;
  const io = { ...network.io, secret, secretRefused, secretOutdated };
  const look = async (): Promise<string> => {
    const result = await settle(clock, observeRedis(cluster, children, io));
    return result.status === 'fulfilled' ? 'seen' : `blind: ${(result.reason as Error).message}`;
  };
  expect(await look()).toBe('seen');
  // Only this one: its key of encryption is gone, or the permission to read it.
  api.intercept = ({ path }: { path: string }) =>
    path.endsWith('/db-auth') ? Promise.resolve({ status: 500, headers: {}, body: '' }) : undefined;
  await clock.advance(60_000);
  expect(await look()).toBe('seen');
  if (withRetirement) {
    const process = { pod: 'db-0', address: pods[0] ?? '', part: 'data' } as const;
    const formers = formersIn([hashOf('old')], [], identity);
    const retired = await settle(clock, actRedis({ type: 'redis.retirePasswords', process, formers }, cluster, io));
    expect(retired.status).toBe('rejected');
  }
  return look();
}

describe('a Secret that cannot be read any more', () => {
  it('blinds nobody', async () => expect(await story(false)).toBe('seen'));
  it('blinds nobody when the overlap is over, either', async () => expect(await story(true)).toBe('seen'));
});
