/** A cluster with TLS for tables of the plan: what its certificates say, what its nodes say, and what comes of it. */
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import type { CertificatesSeen } from '../../src/engines/redis/observe/certificates.ts';
import type { DataNode } from '../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { serverCaChildren } from '../../src/engines/redis/resources/certificates.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { plannedIn } from './plan-words.ts';
import { redisCluster, redisWorld, type Story } from './redis-situation.ts';

export const at = Date.parse('2030-01-01T00:00:00Z');
export const hourMs = 3_600_000;
export const tls = { server: { secretRef: { name: 'theirs' } } } as const;
export const spec: RedisSpecInput = { tls };
export const everybody = ['db-0', 'db-1', 'db-2'];

export const facts = {
  certificate: { notBefore: at - hourMs, notAfter: at + 1000 * hourMs, names: [] },
  end: at + 1000 * hourMs,
  isCurrent: true,
  isSameCa: true,
  hasNextCa: true,
  isOrdered: true,
  hasOtherCa: false,
};
export const copy = { trusted: 'CAs', digest: 'd1', fingerprint: 'f1' };
export const seen = (change: Partial<typeof facts> = {}): CertificatesSeen => ({
  source: { source: { digest: 's' }, copy: { digest: 'c', facts: { ...facts, ...change } } },
  copy,
});
export const withTls: Partial<DataNode> = { tls: { port: 6380, digest: 'd1' }, shown: { fingerprint: 'f1' } };
export const without: Partial<DataNode> = { tls: { port: 0 } };
export const serverCa = 'create ConfigMap db-server-ca';
/** Clients are told these CAs since so many minutes. */
export const toldFor =
  (minutes: number, trusted = copy.trusted): NonNullable<Story['children']> =>
  (objects) => [
    ...objects,
    ...serverCaChildren(redisCluster(spec), trusted, undefined, at - minutes * 60_000).map(({ object }) =>
      stored(fingerprinted(object)),
    ),
  ];

export function planned({ observed, ...story }: Story): string[] {
  return plannedIn(redisWorld({ ...story, observed: { at, ...observed } }));
}
export function statusIn({ observed, ...story }: Story): string[] {
  const world = redisWorld({ ...story, observed: { at, ...observed } });
  const situation = situationOf(world.cluster, world.children, world.observed);
  const { conditions } = redisStatus(situation, planRedis(situation));
  return conditions.filter(({ status }) => status === 'True').map(({ type, reason }) => `${type} ${reason}`);
}
