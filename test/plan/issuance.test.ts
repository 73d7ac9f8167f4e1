/** The life of an authority and of what it signs, told on Secrets that are made and read as the real ones are. */
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { certificatesIn } from '../../src/certificates/facts.ts';
import { type AuthorityWanted, type Issuing, issuing } from '../../src/plan/issuance.ts';
import { carryOut, type Secrets, seenIn } from '../support/issued-secrets.ts';

const hourMs = 3_600_000;
const start = Date.parse('2030-01-01T00:00:00Z');
const day = (days: number): number => start + days * 24 * hourMs;

const wanted = (patienceHours = 0): AuthorityWanted => ({
  secret: 'db-peer-ca',
  hours: 87_600,
  leafHours: 2160,
  patienceHours,
  leaves: [{ secret: 'db-peer-tls', organisation: 'db', names: ['*.db.apps.svc'], usages: ['server', 'client'] }],
});

const words = (steps: readonly Issuing[] | undefined): string[] =>
  steps?.map(
    ({ secret, issue }) => `${secret}: ${issue.what}${issue.what === 'leaf' && !issue.renew ? ' kept' : ''}`,
  ) ?? ['lost'];

const running = { areNone: false, areUpToDate: true };
const behind = { areNone: false, areUpToDate: false };
const nobody = { areNone: true, areUpToDate: true };

interface Life {
  readonly secrets: Secrets;
  /** Decides and does, and tells what was done. */
  at(now: number, takers?: typeof running): string[];
}

function livesWith(what: AuthorityWanted): Life {
  const secrets: Secrets = {};
  return {
    secrets,
    at(now, takers = running) {
      const steps = issuing(what, seenIn(what, secrets), takers, now);
      carryOut(steps ?? [], secrets, now);
      return words(steps);
    },
  };
}

function founded(patienceHours?: number): Life {
  const life = livesWith(wanted(patienceHours));
  life.at(start, nobody);
  return life;
}

const trusted = ({ secrets }: Life): number => certificatesIn(secrets['db-peer-tls']?.['ca.crt'] ?? '').length;

/** Whoever has the leaf is believed by whoever trusts what stands beside it. */
function isBelieved(leaf: string | undefined, trust: string | undefined): boolean {
  const shown = new X509Certificate(leaf ?? '');
  return certificatesIn(trust ?? '').some((text) => {
    const authority = new X509Certificate(text);
    return shown.checkIssued(authority) && shown.verify(authority.publicKey);
  });
}

describe('near the end of an authority', () => {
  it('a certificate is made anew only where the new one ends later', () => {
    const life = founded();
    for (let at = 60; at <= 3630; at += 10) life.at(day(at), behind);
    // It ends with its authority.
    expect(new X509Certificate(life.secrets['db-peer-tls']?.['tls.crt'] ?? '').validTo).toBe(
      new X509Certificate(life.secrets['db-peer-ca']?.['tls.crt'] ?? '').validTo,
    );
    expect([day(3631), day(3640), day(3649)].map((now) => life.at(now, behind))).toEqual([[], [], []]);
  });

  it.each([
    ['there is a successor', [day(2440)]],
    ['there is none', []],
    ['the one before it is trusted still', [day(2440), day(2441), day(2442), day(2443)]],
  ])('nobody is waited for once it is over: %s', (_, before) => {
    const life = founded(2160);
    for (const now of before) life.at(now);
    // Long after whoever signs now.
    const over = day(8000);
    const steps = Array.from({ length: 6 }, () => life.at(over, behind));
    expect(steps.flat().slice(-2)).toEqual(['db-peer-ca: succession', 'db-peer-tls: leaf']);
    expect(steps.at(-1)).toEqual([]);
    expect(Date.parse(new X509Certificate(life.secrets['db-peer-tls']?.['tls.crt'] ?? '').validTo)).toBe(day(8090));
  });

  it('those outside are not waited for where no member runs', () => {
    const life = founded(2160);
    life.at(day(2400));
    expect(Array.from({ length: 7 }, () => life.at(day(2440), nobody))).toEqual([
      ['db-peer-ca: successor'],
      ['db-peer-tls: leaf kept'],
      ['db-peer-ca: succession'],
      ['db-peer-tls: leaf'],
      ['db-peer-ca: retirement'],
      ['db-peer-tls: leaf kept'],
      [],
    ]);
  });

  it('those outside are waited for where members have stopped for a while', () => {
    const life = founded(2160);
    life.at(day(2400));
    const stopped = { ...nobody, willResume: true };
    expect([2440, 2440, 2440, 2529, 2531].map((at) => life.at(day(at), stopped))).toEqual([
      ['db-peer-ca: successor'],
      ['db-peer-tls: leaf kept'],
      [],
      ['db-peer-tls: leaf'],
      ['db-peer-ca: succession'],
    ]);
  });
});

/** Both ends of a connection hold a certificate, and whoever has signed it, against a clock of their own. */
function isGood({ secrets }: Life, now: number): boolean {
  const shown = ['db-peer-tls', 'db-peer-ca'].map((name) => new X509Certificate(secrets[name]?.['tls.crt'] ?? ''));
  return shown.every(({ validFrom, validTo }) => Date.parse(validFrom) <= now && now < Date.parse(validTo));
}

describe('by a clock that is ahead', () => {
  const hours = (count: number): number => start + count * hourMs;

  it.each([1, 23])('by %i hours, what is made is good at once', (ahead) => {
    const life = livesWith(wanted());
    life.at(hours(ahead), nobody);
    expect(isGood(life, start)).toBe(true);
    expect(life.at(day(60) + ahead * hourMs)).toEqual(['db-peer-tls: leaf']);
    expect(isGood(life, day(60))).toBe(true);
  });

  it('by more than a day, a certificate is made anew when the clock is right', () => {
    const life = founded();
    expect(life.at(day(60 + 30), behind)).toEqual(['db-peer-tls: leaf']);
    expect(isGood(life, day(60))).toBe(false);
    expect(life.at(day(60), behind)).toEqual(['db-peer-tls: leaf']);
    expect([isGood(life, day(60)), isGood(life, day(60 + 30))]).toEqual([true, true]);
    expect(life.at(day(60), behind)).toEqual([]);
  });

  it('by more than a certificate lasts, nothing is made that one of the two clocks would take for over', () => {
    const life = founded();
    life.at(day(60), behind);
    expect(life.at(day(-40), behind)).toEqual([]);
  });

  it.each([1, 2, 24, 480])('a certificate for %i h is not made again and again', (leafHours) => {
    const life = livesWith({ ...wanted(), leafHours });
    life.at(start, nobody);
    const lives = (share: number): number => start + share * leafHours * hourMs;
    expect([life.at(lives(0.6)), life.at(lives(0.67)), life.at(lives(0.67))]).toEqual([[], ['db-peer-tls: leaf'], []]);
  });
});

describe('an authority', () => {
  it('is made before the first of its certificates, both at once', () => {
    const life = livesWith(wanted());
    expect(life.at(start, nobody)).toEqual(['db-peer-ca: authority', 'db-peer-tls: leaf']);
    expect(life.at(start)).toEqual([]);
    expect(isBelieved(life.secrets['db-peer-tls']?.['tls.crt'], life.secrets['db-peer-tls']?.['ca.crt'])).toBe(true);
  });

  it('renews a certificate after two thirds of its life, and not before', () => {
    const life = founded();
    const before = life.secrets['db-peer-tls'];
    expect(life.at(day(59))).toEqual([]);
    expect(life.at(day(60), behind)).toEqual(['db-peer-tls: leaf']);
    const after = life.secrets['db-peer-tls'];
    expect([after?.['ca.crt'], after?.generation]).toEqual([before?.['ca.crt'], before?.generation]);
    expect(after?.['tls.crt']).not.toBe(before?.['tls.crt']);
    expect(life.at(day(60))).toEqual([]);
  });

  it('renews a certificate that has other names than it should', () => {
    const life = founded();
    const [leaf] = wanted().leaves;
    if (leaf === undefined) throw new Error('there is no leaf');
    const renamed = { ...wanted(), leaves: [{ ...leaf, names: ['*.db.apps.svc', 'more'] }] };
    expect(words(issuing(renamed, seenIn(renamed, life.secrets), running, start))).toEqual(['db-peer-tls: leaf']);
  });

  it('is followed by another one in three steps, each of which waits for everybody', () => {
    const life = founded();
    life.at(day(2400));
    const due = day(2440);
    const shown = [life.secrets['db-peer-tls']];
    const step = (now: number): void => {
      shown.push(life.secrets['db-peer-tls']);
      // Those who run show or trust what they had before; each believes the other.
      const [old, next] = shown.slice(-2);
      expect(isBelieved(old?.['tls.crt'], next?.['ca.crt'])).toBe(true);
      expect(isBelieved(next?.['tls.crt'], old?.['ca.crt'])).toBe(true);
      expect(life.at(now, behind)).toEqual([]);
    };
    expect(life.at(due)).toEqual(['db-peer-ca: successor']);
    expect(life.at(due)).toEqual(['db-peer-tls: leaf kept']);
    expect(trusted(life)).toBe(2);
    step(due);
    expect(life.at(due)).toEqual(['db-peer-ca: succession']);
    expect(life.at(due)).toEqual(['db-peer-tls: leaf']);
    expect(trusted(life)).toBe(2);
    step(due);
    expect(life.at(due)).toEqual(['db-peer-ca: retirement']);
    expect(life.at(due)).toEqual(['db-peer-tls: leaf kept']);
    expect(trusted(life)).toBe(1);
    step(due);
    expect(life.at(due)).toEqual([]);
    expect(life.secrets['db-peer-tls']?.generation).toBe('4');
  });

  it('gives those outside the life of a certificate for each step', () => {
    const life = founded(2160);
    life.at(day(2400));
    const due = day(2440);
    life.at(due);
    life.at(due);
    expect(life.at(due + 2159 * hourMs)).toEqual(['db-peer-tls: leaf']);
    expect(life.at(due + 2160 * hourMs)).toEqual(['db-peer-ca: succession']);
    life.at(due + 2160 * hourMs);
    expect(life.at(due + 4319 * hourMs)).toEqual(['db-peer-tls: leaf']);
    expect(life.at(due + 4320 * hourMs)).toEqual(['db-peer-ca: retirement']);
  });

  it('whose Secret is gone is trusted on, and followed by another one', () => {
    const life = founded();
    const before = life.secrets['db-peer-tls'];
    delete life.secrets['db-peer-ca'];
    expect(life.at(start)).toEqual(['db-peer-ca: authority-again']);
    expect(life.secrets['db-peer-ca']?.['tls.key']).toBeUndefined();
    expect(life.at(start)).toEqual(['db-peer-tls: leaf kept']);
    expect(life.secrets['db-peer-tls']?.['tls.crt']).toBe(before?.['tls.crt']);
    expect(life.at(start, behind)).toEqual([]);
    expect(life.at(start)).toEqual(['db-peer-ca: succession']);
    expect(life.at(start)).toEqual(['db-peer-tls: leaf']);
    expect(life.at(start)).toEqual(['db-peer-ca: retirement']);
    life.at(start);
    expect([trusted(life), life.at(start)]).toEqual([1, []]);
  });

  it('whose Secret is gone in the middle of a succession: nobody who is shown is forgotten', () => {
    const life = founded();
    life.at(day(2400));
    for (let pass = 0; pass < 4; pass++) life.at(day(2440));
    const before = life.secrets['db-peer-tls'];
    delete life.secrets['db-peer-ca'];
    life.at(day(2440), behind);
    life.at(day(2440), behind);
    const after = life.secrets['db-peer-tls'];
    expect(trusted(life)).toBe(3);
    for (const text of certificatesIn(before?.['ca.crt'] ?? '')) expect(after?.['ca.crt']).toContain(text);
  });

  it('without a key has a successor, and does not wait for those outside where nobody could renew a certificate', () => {
    const life = founded(2160);
    const { 'tls.key': _key, ...rest } = life.secrets['db-peer-ca'] ?? {};
    life.secrets['db-peer-ca'] = rest;
    expect(life.at(day(1))).toEqual(['db-peer-ca: successor']);
    expect(life.at(day(1))).toEqual(['db-peer-tls: leaf kept']);
    expect(life.at(day(59))).toEqual([]);
    expect(life.at(day(60))).toEqual(['db-peer-ca: succession']);
  });

  /** Of somebody else, as in a Secret that was brought back in part. */
  const anotherKey = (): string => founded().secrets['db-peer-ca']?.['tls.key'] ?? '';

  it.each([
    ['is that of another one', anotherKey],
    ['is none', () => 'nonsense'],
  ])('whose key %s signs nothing, and is followed as if it had none', (_, key) => {
    const life = founded();
    const before = life.secrets['db-peer-tls'];
    life.secrets['db-peer-ca'] = { ...life.secrets['db-peer-ca'], 'tls.key': key() };
    expect(life.at(day(61))).toEqual(['db-peer-ca: successor']);
    expect(life.at(day(61))).toEqual(['db-peer-tls: leaf kept']);
    expect(life.secrets['db-peer-tls']?.['tls.crt']).toBe(before?.['tls.crt']);
    expect(life.at(day(61))).toEqual(['db-peer-ca: succession']);
    expect(life.at(day(61))).toEqual(['db-peer-tls: leaf']);
    expect(life.at(day(61))).toEqual(['db-peer-ca: retirement']);
    life.at(day(61));
    expect(life.at(day(61))).toEqual([]);
  });

  it('whose successor has the key of another one gets another successor', () => {
    const life = founded();
    life.secrets['db-peer-ca'] = { ...life.secrets['db-peer-ca'], 'tls.key': '' };
    life.at(start);
    life.secrets['db-peer-ca'] = { ...life.secrets['db-peer-ca'], 'next.key': anotherKey() };
    expect(life.at(start)).toEqual(['db-peer-ca: successor']);
    expect(life.at(start)).toEqual(['db-peer-tls: leaf kept']);
  });

  it('that is neither whom the members trust nor has a key is not put in the place of whom they trust', () => {
    const life = founded();
    const { 'tls.crt': foreign = '' } = founded().secrets['db-peer-ca'] ?? {};
    life.secrets['db-peer-ca'] = { ...life.secrets['db-peer-ca'], 'tls.crt': foreign };
    expect(life.at(day(61))).toEqual(['lost']);
    expect(life.at(day(61), nobody)).toEqual(['db-peer-ca: successor']);
  });

  it('of which nothing is left is made anew where nobody runs, and nowhere else', () => {
    const life = founded();
    delete life.secrets['db-peer-ca'];
    delete life.secrets['db-peer-tls'];
    expect(life.at(start)).toEqual(['lost']);
    expect(life.at(start, nobody)).toEqual(['db-peer-ca: authority', 'db-peer-tls: leaf']);
  });

  it('makes a certificate again that is gone, or is none', () => {
    const life = founded();
    delete life.secrets['db-peer-tls'];
    expect(life.at(start)).toEqual(['db-peer-tls: leaf']);
    life.secrets['db-peer-tls'] = { 'tls.crt': 'nonsense', 'tls.key': 'nonsense', 'ca.crt': 'nonsense' };
    expect(life.at(start)).toEqual(['db-peer-tls: leaf']);
    expect(life.at(start)).toEqual([]);
  });

  it('says nothing of a key in what it decides', () => {
    const what = wanted();
    const life = founded();
    const texts = [start, day(60), day(2440)].map((now) =>
      JSON.stringify(issuing(what, seenIn(what, life.secrets), running, now)),
    );
    expect(texts.join()).not.toMatch(/BEGIN|PRIVATE/);
    expect(JSON.stringify(seenIn(what, life.secrets))).not.toMatch(/BEGIN|PRIVATE/);
  });
});
