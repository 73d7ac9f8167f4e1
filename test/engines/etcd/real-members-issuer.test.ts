/**
 * Real members with certificates that somebody else makes, while the issuer goes over to another CA without asking
 * anybody, and a client of its own writes. What cert-manager writes is written by a stand-in: the Secret that each
 * Certificate names, with its CA, all at once.
 */
import { describe, expect, it } from 'vitest';
import { type Issued, makeAuthority, makeLeaf } from '../../../src/certificates/certificate.ts';
import { certificatesIn, type Values } from '../../../src/certificates/facts.ts';
import { type Clock, systemClock } from '../../../src/system/clock.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';
import { type AskEtcd, etcdClient } from '../../support/etcd-client.ts';
import { type EtcdHost, etcdHost } from '../../support/etcd-host.ts';
import { openEtcdLedger } from '../../support/etcd-ledger.ts';
import { type EtcdOperator, etcdOperator, type OperatorHabits } from '../../support/etcd-operator.ts';
import { asked } from '../../support/etcd-story.ts';
import { until } from '../../support/until.ts';

const dayMs = 86_400_000;
const issuer = { certManager: { issuerRef: { name: 'stand-in' } } };
const tls = { client: issuer, peer: issuer };
type Side = 'client' | 'peer';
const pods = [0, 1, 2].map((index) => `db-${index}-0`);

const newCa = (name: string): Issued =>
  makeAuthority(name, { from: Date.now() - dayMs, to: Date.now() + 3000 * dayMs });

/** What a Certificate's Secret gets. */
function valuesOf(host: EtcdHost, ca: Issued, days = 90): Values {
  const request = {
    organisation: 'db',
    names: ['*.db.apps.svc', 'db-client.apps.svc'],
    addresses: pods.map(host.address),
    usages: ['server', 'client'],
  } as const;
  const leaf = makeLeaf(request, { from: Date.now() - 60_000, to: Date.now() + days * dayMs }, ca);
  return { 'ca.crt': ca.certificate, 'tls.crt': leaf.certificate, 'tls.key': leaf.key };
}

interface Scene {
  readonly host: EtcdHost;
  /** The operator lives so many days from now on. */
  live(daysAhead: number): void;
  /** In place of cert-manager. */
  issue(side: Side, ca: Issued): void;
  /** What the members mount. */
  served(side: Side): Values;
  client(ca: Issued, ...trusted: readonly Issued[]): AskEtcd;
}

async function scene(network: number, tell: (scene: Scene) => Promise<void>): Promise<void> {
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const host = etcdHost(network, clock);
  const sourceOf = (side: Side): string => {
    const object = host.object('Certificate', `db-${side}-tls`);
    return (object?.spec as { readonly secretName?: string } | undefined)?.secretName ?? '';
  };
  try {
    await tell({
      host,
      live: (daysAhead) => {
        aheadMs = daysAhead * dayMs;
      },
      issue: (side, ca) => host.provide(sourceOf(side), valuesOf(host, ca)),
      served: (side) => host.object('Secret', `db-${side}-tls`)?.data as Values,
      client: (ca, ...trusted) => {
        const { 'tls.crt': cert, 'tls.key': key } = valuesOf(host, ca) as Record<string, string>;
        const all = [ca, ...trusted].map(({ certificate }) => certificate).join('');
        const material = { ca: all, cert: cert ?? '', key: key ?? '', servername: 'db-client.apps.svc' };
        return etcdClient({ tls: () => material });
      },
    });
  } finally {
    await host.close();
  }
}

const restarts = (operator: EtcdOperator): number =>
  asked(operator).filter((line) => line.startsWith('delete Pod')).length;

async function formed({ host, issue }: Scene, ca: Issued, version?: string, habits?: OperatorHabits) {
  const operator = etcdOperator(host, { tls, ...(version === undefined ? {} : { version }) }, habits);
  await until('Certificates', async () => {
    await operator.pass();
    expect([host.object('Certificate', 'db-client-tls'), host.object('Certificate', 'db-peer-tls')]).not.toContain(
      undefined,
    );
  });
  for (const side of ['client', 'peer'] as const) issue(side, ca);
  await operator.settle();
  expect(restarts(operator)).toBe(0);
  operator.clear();
  return operator;
}

/** Longest time without an acknowledged write while this happens; nothing acknowledged may be lost. */
async function underWriters({ host }: Scene, ask: AskEtcd, event: () => Promise<void>): Promise<number> {
  const ledger = openEtcdLedger({ addresses: async () => pods.map(host.address), writers: 2, run: 'r', ask });
  const written = (count: number): Promise<void> =>
    until(`${count} writes`, () => expect(ledger.acknowledged).toBeGreaterThan(count));
  try {
    await written(50);
    ledger.mark();
    await event();
    await written(ledger.acknowledged + 50);
  } finally {
    ledger.stop();
  }
  const gapMs = ledger.gapSinceMark();
  const { lost, unread } = await ledger.close();
  expect({ lost, unread }).toEqual({ lost: [], unread: [] });
  return gapMs;
}

const trusts = (values: Values): number => certificatesIn(values['ca.crt'] ?? '').length;

describe
  .skipIf(etcdBinaries.size === 0)
  .concurrent('members with certificates of an issuer', { timeout: 600_000 }, () => {
    it.each([...etcdBinaries.keys()].map((version, i) => [version, 120 + i] as const))(
      '%s: the issuer of peers goes over to another CA while clients write',
      (version, network) =>
        scene(network, async (all) => {
          const [before, after] = [newCa('before'), newCa('after')];
          const operator = await formed(all, before, version);
          let tookMs = 0;
          const gapMs = await underWriters(all, all.client(before), async () => {
            const began = performance.now();
            all.issue('peer', after);
            await operator.settle();
            tookMs = performance.now() - began;
          });
          expect(all.served('peer')['ca.crt']).toBe(after.certificate);
          // Trusted, shown, alone: each member once for each step.
          expect(restarts(operator)).toBe(9);
          // Without trust among most of them, nobody writes for one of the three steps at least.
          expect(gapMs).toBeLessThan(tookMs / 4);
        }),
    );

    it('though each pod sees a changed Secret only when it starts', () =>
      scene(124, async (all) => {
        const [before, after] = [newCa('before'), newCa('after')];
        const operator = await formed(all, before);
        all.host.forgetMounts(true);
        await underWriters(all, all.client(before), async () => {
          all.issue('peer', after);
          await operator.settle();
        });
        expect(all.served('peer')['ca.crt']).toBe(after.certificate);
      }));

    it('when the operator dies after each of its steps', () =>
      scene(125, async (all) => {
        const [before, after] = [newCa('before'), newCa('after')];
        const operator = await formed(all, before, undefined, { diesEarly: true });
        all.issue('peer', after);
        await operator.settle();
        expect([all.served('peer')['ca.crt'], restarts(operator)]).toEqual([after.certificate, 9]);
      }));

    it('when it goes back in the middle', () =>
      scene(126, async (all) => {
        const [before, after] = [newCa('before'), newCa('after')];
        const operator = await formed(all, before);
        await underWriters(all, all.client(before), async () => {
          all.issue('peer', after);
          await operator.pass();
          await operator.until('Restarting');
          all.issue('peer', before);
          await operator.settle();
        });
        expect(all.served('peer')['ca.crt']).toBe(before.certificate);
      }));

    it('clients are given the life of a certificate to trust the next CA, and then to leave the one before', () =>
      scene(127, async (all) => {
        const [before, after] = [newCa('before'), newCa('after')];
        const operator = await formed(all, before);
        await underWriters(all, all.client(before), async () => {
          all.issue('client', after);
          await operator.settle();
        });
        expect([trusts(all.served('client')), restarts(operator)]).toEqual([2, 3]);
        expect(operator.cluster.status?.conditions?.find(({ type }) => type === 'CertificateHeldBack')?.reason).toBe(
          'NotTrustedYet',
        );
        await underWriters(all, all.client(before, after), async () => {
          all.live(80);
          await operator.settle();
        });
        expect([trusts(all.served('client')), restarts(operator)]).toEqual([2, 6]);
        await underWriters(all, all.client(after), async () => {
          all.live(175);
          await operator.settle();
        });
        expect([all.served('client')['ca.crt'], restarts(operator)]).toEqual([after.certificate, 9]);
      }));

    it('a renewed certificate of the same CA is shown at once, and nobody restarts', () =>
      scene(128, async (all) => {
        const ca = newCa('ca');
        const operator = await formed(all, ca);
        const before = all.served('client')['tls.crt'];
        for (const side of ['client', 'peer'] as const) all.issue(side, ca);
        await operator.settle();
        expect([all.served('client')['tls.crt'] === before, restarts(operator)]).toEqual([false, 0]);
      }));

    it('a copy that is gone is made again, and where it cannot be the cluster says so', () =>
      scene(129, async (all) => {
        const [before, after] = [newCa('before'), newCa('after')];
        const operator = await formed(all, before);
        all.host.remove('Secret', 'db-peer-tls');
        await operator.settle();
        expect([all.served('peer')['ca.crt'], restarts(operator)]).toEqual([before.certificate, 0]);
        all.host.remove('Secret', 'db-peer-tls');
        all.issue('peer', after);
        const { message } = (await operator.until('CertificatesLost')) as { readonly message?: string };
        expect(message).toContain('db-peer-tls is gone');
        operator.change({ replicas: 0 });
        await operator.settle();
        operator.change({ replicas: 3 });
        await operator.settle();
        expect(all.served('peer')['ca.crt']).toBe(after.certificate);
      }));

    it('of a Secret that somebody brings: one that is replaced at once restarts nobody, both after each other do', () =>
      scene(130, async (all) => {
        const { host } = all;
        const [before, after] = [newCa('before'), newCa('after')];
        const [old, next] = [valuesOf(host, before), valuesOf(host, after)];
        const peers = (values: Values, ...cas: readonly Issued[]): void =>
          host.provide('peers', { ...values, 'ca.crt': cas.map(({ certificate }) => certificate).join('') });
        host.provide('clients', old);
        peers(old, before);
        const brought = { client: { secretRef: { name: 'clients' } }, peer: { secretRef: { name: 'peers' } } };
        const operator = etcdOperator(host, { tls: brought });
        await operator.settle();
        operator.clear();
        const condition = (): string | undefined =>
          operator.cluster.status?.conditions?.find(({ type }) => type === 'CertificateHeldBack')?.reason;
        await underWriters(all, all.client(before), async () => {
          peers(next, after);
          await operator.settle();
          expect([restarts(operator), condition()]).toEqual([0, 'NotTrusted']);
          const steps: [Values, ...Issued[]][] = [
            [old, before, after],
            [next, before, after],
            [next, after],
          ];
          for (const [values, ...cas] of steps) {
            peers(values, ...cas);
            await operator.settle();
          }
        });
        expect([restarts(operator), condition()]).toEqual([6, undefined]);
      }));
  });
