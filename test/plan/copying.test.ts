/**
 * The copy of a certificate that somebody else makes: what it takes of the source, and when. Members are pretended: each
 * trusts what the copy said when it started, and shows the certificate of then or of any time since, as its kubelet likes.
 */
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Issued } from '../../src/certificates/certificate.ts';
import { copied, copySeen } from '../../src/certificates/copied.ts';
import { certificatesIn, type Values } from '../../src/certificates/facts.ts';
import { issued } from '../../src/certificates/issue.ts';
import { isSignedBy } from '../../src/certificates/x509.ts';
import { type Copying, type CopyTakers, copying } from '../../src/plan/copying.ts';
import { madeBy, madeCa } from '../support/issued-secrets.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
const dayMs = 86_400_000;
const names = ['*.db.apps.svc'];
const [a, b, c] = ['a', 'b', 'c'].map((name) => madeCa(name, now)) as [Issued, Issued, Issued];
const peers = { secret: 'copy', from: 'source', patienceHours: 0 };
const clients = { ...peers, patienceHours: 2160 };

const all: CopyTakers = { areUpToDate: true, areNone: false, trustSource: true };
const behind: CopyTakers = { ...all, areUpToDate: false };
const none: CopyTakers = { ...all, areNone: true };

const by = (ca: Issued, at = now): Values => madeBy(ca, names, at);
const caOf = (ca: Issued): string => ca.certificate;

interface Life {
  source: Values | undefined;
  copy: Values | undefined;
  /** What is decided, and done. */
  at(time: number, takers?: CopyTakers): string;
}

function lifeOf(source: Values | undefined, wanted = peers, copy: Values | undefined = source): Life {
  const life: Life = {
    source,
    copy,
    at(time, takers = all) {
      const decided = copying(wanted, copySeen(life.source, life.copy), takers, time);
      if (decided.state === 'due') life.copy = carriedOut(decided, life);
      return wordOf(decided);
    },
  };
  return life;
}

function carriedOut({ issue }: Extract<Copying, { state: 'due' }>, { source, copy }: Life): Values {
  return issued(issue, { own: copy, source }, now);
}

function wordOf(decided: Copying): string {
  if (decided.state === 'held') return `held ${decided.reason}`;
  return decided.state === 'due' && decided.issue.what === 'copy' ? decided.issue.part : decided.state;
}

describe('a copy', () => {
  it('is made where nobody runs, or everybody trusts the source', () => {
    for (const takers of [none, { ...behind, trustSource: true }]) {
      const life = lifeOf(by(a));
      life.copy = undefined;
      expect(life.at(now, takers)).toBe('all');
      expect(life.copy).toEqual(life.source);
    }
    const life = lifeOf(by(a));
    life.copy = undefined;
    expect(life.at(now, { ...all, trustSource: false })).toBe('lost');
  });

  it('takes a renewed certificate of the same CA whoever is behind, and keeps whom the members trust', () => {
    const life = lifeOf(by(a));
    const { 'ca.crt': before } = life.copy as Values;
    life.source = { ...by(a), 'ca.crt': `${caOf(a).trimEnd()}\n\n` };
    expect([life.at(now, behind), life.at(now, behind)]).toEqual(['renewal', 'done']);
    expect(life.copy).toMatchObject({ 'ca.crt': before, 'tls.crt': life.source['tls.crt'] });
  });

  it('follows to another CA in three steps, each of which another text tells from the one before', () => {
    const life = lifeOf(by(a));
    const texts = [life.copy?.['ca.crt']];
    life.source = by(b);
    for (const part of ['next-ca', 'certificate', 'ca']) {
      expect(life.at(now)).toBe(part);
      texts.push(life.copy?.['ca.crt']);
    }
    expect(texts).toEqual([caOf(a), caOf(a) + caOf(b), caOf(b) + caOf(a), caOf(b)]);
    expect([life.at(now), life.copy?.['tls.crt']]).toEqual(['done', life.source['tls.crt']]);
  });

  it('waits between two steps for every member', () => {
    const life = lifeOf(by(a));
    life.source = by(b);
    expect([life.at(now, behind), life.at(now, behind)]).toEqual(['next-ca', 'held NotTrustedYet']);
    expect([life.at(now), life.at(now, behind), life.at(now)]).toEqual(['certificate', 'done', 'ca']);
  });

  it('gives clients the life of a certificate for each step, as long as the one that is shown is believed', () => {
    const life = lifeOf(by(a), clients);
    life.source = by(b, now + 60 * dayMs);
    expect([life.at(now), life.at(now + 74 * dayMs)]).toEqual(['next-ca', 'held NotTrustedYet']);
    expect([life.at(now + 75 * dayMs), life.at(now + 89 * dayMs)]).toEqual(['certificate', 'done']);
    expect(life.at(now + 90 * dayMs)).toBe('ca');
  });

  it('waits for nobody where nobody believes what is shown', () => {
    const life = lifeOf(by(a));
    life.source = by(b, now + 91 * dayMs);
    const later = now + 91 * dayMs;
    expect([life.at(later, behind), life.at(later, behind), life.at(later, behind)]).toEqual([
      'next-ca',
      'certificate',
      'done',
    ]);
  });

  it('is the source itself where nobody runs', () => {
    const life = lifeOf(by(a), clients);
    life.source = by(b);
    expect([life.at(now, none), life.copy]).toEqual(['all', life.source]);
  });

  it('gives clients their time where members have stopped for a while', () => {
    const life = lifeOf(by(a), clients);
    life.source = by(b);
    const stopped = { ...none, willResume: true };
    expect([life.at(now, stopped), life.at(now, stopped)]).toEqual(['next-ca', 'held NotTrustedYet']);
    life.copy = undefined;
    expect(life.at(now, stopped)).toBe('all');
  });

  it('takes up a CA that comes beside its own, and leaves one that goes', () => {
    const life = lifeOf(by(a));
    life.source = { ...by(a), 'ca.crt': caOf(b) + caOf(a) };
    expect([life.at(now), life.at(now), life.at(now)]).toEqual(['renewal', 'next-ca', 'done']);
    life.source = { ...life.source, 'ca.crt': caOf(a) };
    expect([life.at(now, behind), life.at(now)]).toEqual(['done', 'ca']);
  });

  it('of a source in another order is left alone: nobody restarts for it', () => {
    const source = { ...by(a), 'ca.crt': caOf(b) + caOf(a) };
    expect(lifeOf(source).at(now)).toBe('done');
  });

  it('may be of certificates that are trusted themselves, as an issuer without a CA makes them', () => {
    const alone = (values: Values): Values => ({ ...values, 'ca.crt': values['tls.crt'] ?? '' });
    const [first, second] = [alone(by(a)), alone(by(b))];
    const life = lifeOf(first);
    life.source = second;
    expect([life.at(now), life.at(now), life.at(now), life.at(now)]).toEqual(['next-ca', 'certificate', 'ca', 'done']);
    expect(life.copy?.['ca.crt']).toBe(second['tls.crt']);
  });

  it('has both CAs in order before another certificate is shown', () => {
    const copy = { ...by(a), 'ca.crt': caOf(b) + caOf(a) };
    const life = lifeOf({ ...by(b), 'ca.crt': caOf(b) + caOf(a) }, peers, copy);
    expect([life.at(now), life.at(now), life.at(now)]).toEqual(['next-ca', 'certificate', 'done']);
  });

  const unusable: readonly [string, (good: Values) => Values | undefined][] = [
    ['is not there', () => undefined],
    ['has no certificates in tls.crt and ca.crt', ({ 'ca.crt': _, ...rest }) => rest],
    ['has no certificates in tls.crt and ca.crt', (good) => ({ ...good, 'tls.crt': 'none' })],
    ['has a tls.key that is not the one of its tls.crt', (good) => ({ ...good, 'tls.key': by(a)['tls.key'] ?? '' })],
    ['has a ca.crt that has not signed its tls.crt', (good) => ({ ...good, 'ca.crt': caOf(c) })],
    [
      'has more than 10 certificates in tls.crt, or more than 32 in ca.crt',
      (good) => ({ ...good, 'ca.crt': Array.from({ length: 33 }, () => caOf(b)).join('') }),
    ],
  ];
  it.each(unusable)('stays as it is where the source %s', (fault, change) => {
    const life = lifeOf(by(a));
    const before = life.copy;
    life.source = change(by(b));
    expect(copying(peers, copySeen(life.source, life.copy), all, now)).toEqual({
      state: 'held',
      reason: 'Unusable',
      message: `Secret source ${fault}`,
    });
    expect([life.at(now), life.copy]).toEqual(['held Unusable', before]);
  });

  it('is not made of a source that has changed since it was looked at', () => {
    const life = lifeOf(by(a));
    life.source = by(b);
    const decided = copying(peers, copySeen(life.source, life.copy), all, now);
    if (decided.state !== 'due') throw new Error(decided.state);
    expect(() => carriedOut(decided, { ...life, source: by(c) })).toThrow('Secret source is not as it was');
  });
});

/** Small, and the same each time. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Pretended {
  /** What it has loaded. */
  readonly trusted: string;
  shown: string;
}

const started = (copy: Values): Pretended => ({ trusted: copy['ca.crt'] ?? '', shown: copy['tls.crt'] ?? '' });

/** There are few different ones. */
function memo<Result>(work: (...texts: readonly string[]) => Result): (...texts: readonly string[]) => Result {
  const known = new Map<string, Result>();
  return (...texts) => {
    const key = texts.join('|');
    const found = known.get(key) ?? work(...texts);
    known.set(key, found);
    return found;
  };
}

const trusts = memo((trusted = '', shown = '') =>
  certificatesIn(trusted).some((ca) => isSignedBy(new X509Certificate(shown), new X509Certificate(ca))),
);

const seenOnce = memo((source = '', copy = '') => copySeen(JSON.parse(source), JSON.parse(copy)));

it('in no order of changes, late kubelets and restarts a member refuses another one', () => {
  let followed = 0;
  const pool = [a, b, c].flatMap((ca) => [by(ca), by(ca)]);
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomFrom(seed);
    const life = lifeOf(pool[0]);
    const decide = (areUpToDate: boolean): string => {
      const { changed: _, ...copy } = life.copy as Values;
      const seen = seenOnce(JSON.stringify(life.source), JSON.stringify(copy));
      const decided = copying(peers, seen, { ...all, areUpToDate }, now);
      if (decided.state === 'due' && decided.issue.what === 'copy') {
        life.copy = copied(decided.issue.part, life.source as Values, life.copy as Values, now);
      }
      return wordOf(decided);
    };
    const members = [0, 1, 2].map(() => started(life.copy as Values));
    const steps: string[] = [];
    for (let turn = 0; turn < 80; turn++) {
      const copy = life.copy as Values;
      const index = random(3);
      const isOutdated = members.map(({ trusted }) => trusted !== copy['ca.crt']);
      switch (random(6)) {
        case 0:
          // Rarely enough that some go through to their end.
          if (random(3) === 0) life.source = pool[random(pool.length)];
          break;
        case 1:
          (members[index] as Pretended).shown = copy['tls.crt'] ?? '';
          break;
        case 2:
          // By itself, at any moment.
          members[index] = started(copy);
          break;
        case 3:
          if (isOutdated.includes(true)) members[isOutdated.indexOf(true)] = started(copy);
          break;
        default:
          steps.push(decide(!isOutdated.includes(true)));
      }
      const refused = members.some((one) => members.some(({ shown }) => !trusts(one.trusted, shown)));
      if (refused) throw new Error(`seed ${seed}: ${steps.join(', ')}`);
    }
    followed += steps.filter((step) => step === 'ca').length;
  }
  expect(followed).toBeGreaterThan(20);
});
