/** Certificates while no member runs, since a major upgrade is at work: clients, the archive and poolers go on. */
import { describe, expect, it } from 'vitest';
import type { Values } from '../../../src/certificates/facts.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planIssuance } from '../../../src/engines/postgres/plan/issuance.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { planShown, shownReloads } from '../../../src/engines/postgres/plan/shown-certificate.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { allGone, at, kept, before as versionBefore, spec as versionSpec } from '../../support/postgres-upgrade.ts';
import { words } from '../../support/postgres-words.ts';
import { brought, company, fromSecret, type Shown, shownBy, source } from '../../support/shown-certificates.ts';

const minuteMs = 60_000;
const first = company();
const second = company();

/** In words, and it is done. */
async function next(shown: Shown, story: Story): Promise<string[]> {
  const situation = await shown.situation(story);
  return shown.carryOut([...planShown(situation).steps, ...shownReloads(situation)]);
}

const copyOf = ({ secrets }: Shown): Values => secrets['db-shown-tls'] ?? {};

describe('the certificate of a user', () => {
  const stopped: Story = { ...allGone, before: { ...versionBefore, ...fromSecret }, record: at('upgrading', kept) };
  const upgrading = { ...fromSecret, ...versionSpec };

  it('another CA is trusted first: archive, poolers and clients go on', async () => {
    const copy = brought(first);
    const shown = shownBy(3, upgrading, copy);
    shown.secrets[source] = brought(second);
    expect(await next(shown, stopped)).toEqual(['copy next-ca of shop-db-tls']);
    shown.at += minuteMs;
    expect(await next(shown, stopped)).toEqual([]);
    expect(copyOf(shown)['tls.crt']).toBe(copy['tls.crt']);
  });

  it('a source that has just been named is not awaited: they begin with the certificate of the operator', async () => {
    const shown = shownBy(3, upgrading);
    const story: Story = { ...stopped, before: versionBefore };
    expect(await next(shown, story)).toEqual(['copy all of db-server-tls']);
    expect(words(planPostgres(await shown.situation(story), () => undefined)).join()).not.toContain('Awaiting');
  });

  it('a copy that is gone is made again', async () => {
    const shown = shownBy(3, upgrading, brought(first));
    shown.secrets[source] = brought(second);
    shown.secrets['db-shown-tls'] = undefined as never;
    expect(await next(shown, stopped)).toEqual(['copy all of shop-db-tls']);
  });
});

describe('the CA of the operator', () => {
  const stopped: Story = { ...allGone, spec: versionSpec, before: versionBefore, record: at('upgrading', kept) };
  /** The next one is trusted beside the one that signs, and has been for a day. */
  const issuedWith = (side: 'sql' | 'patroni', story: Story): string[] => {
    const { cluster, children, observed } = postgresWorld(story);
    const seen = observed.certificates?.[side];
    const facts = { ...seen?.authority.facts, hasNext: true };
    const certificates = { ...observed.certificates, [side]: { ...seen, authority: { digest: 'a', facts } } } as never;
    const { steps } = planIssuance(situationOf(cluster, children, { ...observed, certificates }));
    return steps.map((step) =>
      step.type === 'issue' ? `${step.object.metadata.name}: ${step.issue.what}` : step.type,
    );
  };

  it('of PostgreSQL waits for clients, as long as ever', () => {
    expect(issuedWith('sql', stopped)).toEqual([]);
    const parked: Story = { ...allGone, spec: { instances: 0 }, before: {} };
    expect(issuedWith('sql', parked)).toEqual(['db-ca: succession']);
  });

  it.each(['cancelled', 'finishing'] as const)(
    'a person who stops all members has it changed at once, also beside the record of an upgrade: %s',
    (stage) => {
      const record = at(stage, { why: 'pg_upgrade refused' });
      const parked: Story = { ...allGone, spec: { ...versionSpec, instances: 0 }, before: versionBefore, record };
      expect(issuedWith('sql', parked)).toEqual(['db-ca: succession']);
      const resuming: Story = { ...parked, spec: versionSpec };
      expect(issuedWith('sql', resuming)).toEqual([]);
    },
  );

  it('of Patroni waits for nobody', () => {
    expect(issuedWith('patroni', stopped)).toEqual(['db-patroni-ca: succession']);
  });
});
