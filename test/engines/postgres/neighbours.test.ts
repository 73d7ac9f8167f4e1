/** Clusters of one namespace whose Secrets would have the same names: `a-patroni-ca` is Patroni's CA of `a`, and PostgreSQL's of `a-patroni`. */
import { afterEach, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { patroniTls } from '../../../src/engines/postgres/client/credentials.ts';
import type { PostgresSpec } from '../../../src/engines/postgres/kind/schema.ts';
import { observeCertificates } from '../../../src/engines/postgres/observe/certificates.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planIssuance } from '../../../src/engines/postgres/plan/issuance.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { createSecretReader, engineIO } from '../../../src/runtime/engine-context.ts';
import { createExecutor } from '../../../src/runtime/executor.ts';
import { blankAccounts, blankClaims } from '../../support/blank-claims.ts';
import { type ControllerParts, controllerParts } from '../../support/controller-parts.ts';
import { postgresCluster } from '../../support/postgres-situation.ts';
import { testEngine } from '../../support/test-engine.ts';

let parts: ControllerParts;
afterEach(() => parts.stop());

const named = (name: string): Cluster<PostgresSpec> => {
  const cluster = postgresCluster({});
  return { ...cluster, metadata: { ...cluster.metadata, name, uid: `uid-of-${name}` } };
};

/** As a new operator process does it: it has read no Secret yet. */
async function issueFor(cluster: Cluster<PostgresSpec>): Promise<void> {
  const { client, cache, clock } = parts;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  const { signal } = new AbortController();
  const dial = (): Promise<never> => Promise.reject(new Error('nobody is there'));
  const shared = { secrets, claims: blankClaims, accounts: blankAccounts, dial, clock, signal };
  const io = engineIO({ namespace: cluster.metadata.namespace, ...shared });
  const observed = { members: [], at: clock.now(), ...(await observeCertificates(cluster, io)) };
  const { steps, lost } = planIssuance(situationOf(cluster, noChildren, observed));
  expect(lost).toBeUndefined();
  const executor = createExecutor({ client, cache, now: () => clock.now() });
  await executor.run(steps, () => Promise.reject(new Error('no action')), signal);
  secrets.refuse(cluster.metadata.namespace, `${cluster.metadata.name}-patroni-operator-tls`);
  await patroniTls(cluster, io);
}

const secretsThere = (): readonly string[] => parts.api.list('Secret').map(({ metadata }) => metadata.name);

it.each([
  ['a', 'a-patroni', []],
  // Its CA for PostgreSQL is its own.
  ['a-patroni', 'a', ['a-ca', 'a-server-tls', 'a-replication-tls', 'a-rewind-tls', 'a-operator-tls']],
])('beside %s, %s signs nothing with a CA that is not its own, and says whose it is', async (first, second, made) => {
  parts = await controllerParts([], [testEngine()]);
  await issueFor(named(first));
  const before = secretsThere();
  await expect(issueFor(named(second))).rejects.toThrow(
    /Secret a-patroni-ca exists and belongs to the postgres cluster/,
  );
  expect(secretsThere().filter((name) => !before.includes(name))).toEqual(made);
});

it('a CA that somebody has made under the name is not signed with', async () => {
  parts = await controllerParts([], [testEngine()]);
  await issueFor(named('a'));
  const { metadata, ...theirs } = parts.api.get('Secret', 'a-ca') as KubeObject;
  parts.api.put({ ...theirs, metadata: { name: 'b-ca', namespace: metadata.namespace ?? '' } });
  await expect(issueFor(named('b'))).rejects.toThrow(/Secret b-ca exists and belongs to somebody else/);
});
