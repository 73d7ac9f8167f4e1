/** Whose certificate members show, and how they come from one to the next. */
import { describe, expect, it } from 'vitest';
import { makeAuthority, makeLeaf } from '../../../src/certificates/certificate.ts';
import { certificatesIn, type Values } from '../../../src/certificates/facts.ts';
import { operatorSession } from '../../../src/engines/postgres/client/credentials.ts';
import { forecastPostgres } from '../../../src/engines/postgres/plan/forecast.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { heldBack, planShown, shownReloads } from '../../../src/engines/postgres/plan/shown-certificate.ts';
import { postgresChildren } from '../../../src/engines/postgres/resources/resources.ts';
import { postgresStatus } from '../../../src/engines/postgres/status.ts';
import { refusalOf } from '../../../src/system/accepted.ts';
import { postgresCluster, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { words } from '../../support/postgres-words.ts';
import {
  brought,
  company,
  fromSecret,
  ofOperator,
  type Shown,
  shownBy,
  source,
} from '../../support/shown-certificates.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const first = company();
const second = company();
const pem = ({ certificate }: { readonly certificate: string }): string => certificate;

/** In words, and it is done. */
async function next(shown: Shown, story?: Story): Promise<string[]> {
  const situation = await shown.situation(story);
  return shown.carryOut([...planShown(situation).steps, ...shownReloads(situation)]);
}

async function condition(shown: Shown): Promise<string | undefined> {
  const [found] = heldBack(await shown.situation());
  return found === undefined ? undefined : `${found.reason}: ${found.message}`;
}

const copyOf = ({ secrets }: Shown): Values => secrets['db-shown-tls'] ?? {};
const all = (shown: Shown, what: 'deliver' | 'read'): void => {
  for (const index of shown.members.keys()) shown[what](index);
};

describe('the three steps to another CA', () => {
  it('are taken one after the other, and each only when every member has the one before', async () => {
    const copy = brought(first);
    const shown = shownBy(3, fromSecret, copy);
    shown.secrets[source] = copy;
    expect(await next(shown)).toEqual([]);

    shown.secrets[source] = brought(second);
    expect(await next(shown)).toEqual(['copy next-ca of shop-db-tls']);
    expect(certificatesIn(copyOf(shown)['ca.crt'] ?? '')).toEqual([first, second].map(pem));
    expect(copyOf(shown)['tls.crt']).toBe(copy['tls.crt']);
    // Nobody has the file yet: they are told to read it until their pods say that they have.
    shown.at += 10 * minuteMs;
    const reloads = ['reload db-0-0', 'reload db-1-0', 'reload db-2-0'];
    expect(await next(shown)).toEqual(reloads);
    shown.deliver(0);
    shown.deliver(2);
    expect(await next(shown)).toEqual(reloads);
    expect(await next(shown)).toEqual(['reload db-1-0']);
    expect(await condition(shown)).toMatch(/^NotTrustedYet: .*it waits until every member is well and has started/);
    shown.deliver(1);
    expect(await next(shown)).toEqual(['reload db-1-0']);

    expect(await next(shown)).toEqual(['copy certificate of shop-db-tls']);
    expect(certificatesIn(copyOf(shown)['ca.crt'] ?? '')).toEqual([second, first].map(pem));
    shown.at += 10 * minuteMs;
    all(shown, 'deliver');
    expect(await next(shown)).toEqual(reloads);
    expect(await next(shown)).toEqual(['copy ca of shop-db-tls']);
    expect(copyOf(shown)['ca.crt']).toBe(second.certificate);
    all(shown, 'deliver');
    await next(shown);
    expect(await next(shown)).toEqual([]);
    expect(await condition(shown)).toBeUndefined();
  });

  it.each<[string, Story]>([
    ['a member is not well', { members: { 1: 'silent' } }],
    ['a member has yet to restart', { pods: { 1: 'outdated' } }],
  ])('wait while %s', async (_, story) => {
    const shown = shownBy(3, fromSecret, brought(first));
    shown.secrets[source] = brought(second);
    await next(shown);
    all(shown, 'deliver');
    all(shown, 'read');
    shown.at += 10 * minuteMs;
    expect(await next(shown, story)).toEqual([]);
    expect(await next(shown)).toEqual(['copy certificate of shop-db-tls']);
  });

  it('wait while the pooler, which asks nobody, has yet to restart with the file', async () => {
    const spec = { ...fromSecret, pooler: {} };
    const shown = shownBy(3, spec, brought(first));
    shown.secrets[source] = brought(second);
    await next(shown);
    all(shown, 'deliver');
    all(shown, 'read');
    shown.at += 10 * minuteMs;
    const old: Story = {
      children: (objects) =>
        objects.map((object) =>
          object.kind === 'Pod' && object.metadata.name === 'db-pooler-1'
            ? {
                ...object,
                metadata: {
                  ...object.metadata,
                  labels: { ...object.metadata.labels, 'controller-revision-hash': 'old' },
                },
              }
            : object,
        ),
    };
    expect(await next(shown, old)).toEqual([]);
    expect(await next(shown)).toEqual(['copy certificate of shop-db-tls']);
  });

  it('drop the CA before only when every member is seen to show the next certificate, whatever its pod says', async () => {
    const shown = shownBy(3, fromSecret, brought(first));
    shown.secrets[source] = brought(second);
    await next(shown);
    all(shown, 'deliver');
    all(shown, 'read');
    shown.at += 10 * minuteMs;
    expect(await next(shown)).toEqual(['copy certificate of shop-db-tls']);
    all(shown, 'deliver');
    const before = shown.members[1]?.shows;
    all(shown, 'read');
    // The kubelet brought the file after the server had read it, and before its pod said so.
    Object.assign(shown.members[1] ?? {}, { shows: before });
    shown.at += 10 * minuteMs;
    expect(await next(shown)).toEqual(['reload db-1-0']);
    expect(await next(shown)).toEqual(['copy ca of shop-db-tls']);
  });

  it('give kubelets three minutes for those who are not asked', async () => {
    const shown = shownBy(3, fromSecret, brought(first));
    shown.secrets[source] = brought(second);
    await next(shown);
    all(shown, 'deliver');
    all(shown, 'read');
    shown.at += 2.9 * minuteMs;
    expect(await next(shown)).toEqual([]);
    shown.at += 0.2 * minuteMs;
    expect(await next(shown)).toEqual(['copy certificate of shop-db-tls']);
  });
});

describe('a certificate of the same CA', () => {
  it('is copied at once, and read by each server once its kubelet has brought it', async () => {
    const shown = shownBy(3, fromSecret, brought(first));
    shown.secrets[source] = brought(first);
    expect(await next(shown)).toEqual(['copy renewal of shop-db-tls']);
    const behind = ['reload db-0-0', 'reload db-1-0', 'reload db-2-0'];
    expect(await next(shown)).toEqual(behind);
    shown.deliver(1);
    expect(await next(shown)).toEqual(behind);
    expect(await next(shown)).toEqual(['reload db-0-0', 'reload db-2-0']);
  });

  it('is read by a server that nobody accepts any more, though it is not well', async () => {
    const shown = shownBy(3, fromSecret, brought(first));
    shown.secrets[source] = brought(first);
    await next(shown);
    const refused = { server: { state: 'unknown', why: 'certificate has expired' } } as const;
    expect(words(planPostgres(await shown.situation({ members: { 2: refused } }), () => undefined))).toEqual(
      expect.arrayContaining(['reload db-2-0', 'wait MembersNotReady']),
    );
    const busy = { server: { state: 'unknown', why: 'timeout' } } as const;
    expect(await next(shown, { members: { 0: busy, 1: busy, 2: busy } })).toEqual([]);
  });

  it('is not read over and over: a server that has just read its files is left alone', async () => {
    const shown = shownBy(1, { ...fromSecret, instances: 1 }, brought(first));
    shown.secrets[source] = brought(first);
    await next(shown);
    const situation = await shown.situation();
    const [member] = situation.live.values();
    if (member?.server?.state !== 'seen') throw new Error('it is not seen');
    const facts = { ...member.server.facts, configAgeMs: 14_000 };
    expect(shownReloads(await shown.situation({ members: { 0: { server: { ...member.server, facts } } } }))).toEqual(
      [],
    );
  });
});

describe('a source that cannot be used', () => {
  const weak = brought(first);
  const intermediate = makeAuthority('between', { from: Date.now() - dayMs, to: Date.now() + dayMs });
  const client = makeLeaf(
    { organisation: 'shop', names: [], usages: ['client'] },
    { from: Date.now() - dayMs, to: Date.now() + dayMs },
    first,
  );
  const past = { from: Date.now() - 2 * dayMs, to: Date.now() - dayMs };
  const future = { from: Date.now() + dayMs, to: Date.now() + 2 * dayMs };
  it.each<[string, Values | undefined, RegExp]>([
    ['is not there', undefined, /Secret shop-db-tls is not there/],
    ['has no certificate', { 'tls.crt': 'x' }, /has no certificates/],
    [
      'has the key of another',
      { ...weak, 'tls.key': brought(first)['tls.key'] ?? '' },
      /has a tls.key that is not the one/,
    ],
    ['has another CA beside it', { ...weak, 'ca.crt': intermediate.certificate }, /has a ca.crt that has not signed/],
    ['has expired', brought(first, past), /has expired at /],
    ['begins later', brought(first, future), /is valid from /],
    [
      'is no certificate of a server',
      { 'ca.crt': first.certificate, 'tls.crt': client.certificate, 'tls.key': client.key },
      /that clients refuse by its ca.crt \(INVALID_PURPOSE\)/,
    ],
  ])('%s: members go on with what they have, and it is said', async (_, values, message) => {
    const copy = brought(first);
    const shown = shownBy(3, fromSecret, copy);
    if (values !== undefined) shown.secrets[source] = values;
    expect(await next(shown)).toEqual([]);
    expect(await condition(shown)).toMatch(/^Unusable: /);
    expect(await condition(shown)).toMatch(message);
    const situation = await shown.situation();
    const plan = planPostgres(situation, () => undefined);
    expect(words(plan)).toEqual(['create ConfigMap db-server-ca', 'settled']);
    // Nothing tells when somebody mends it.
    expect(plan.outcome).toEqual({ state: 'settled', recheckMs: 30_000 });
    const { phase, conditions } = postgresStatus(situation, plan);
    expect(phase).toBe('Ready');
    expect(conditions.find(({ type }) => type === 'CertificateHeldBack')?.reason).toBe('Unusable');
    expect(JSON.stringify(situation)).not.toContain('PRIVATE KEY');
  });
});

describe('a cluster that has no certificate yet', () => {
  const nobody: Story = { status: {}, numbers: [], primary: 'nobody', children: () => [] };
  const plan = async (shown: Shown, story: Story) => planPostgres(await shown.situation(story), () => undefined);

  it('waits for the Secret, and no pod waits for it', async () => {
    const shown = shownBy(0, fromSecret);
    shown.spec = fromSecret;
    const lines = words(await plan(shown, { ...nobody, spec: { instances: 3 } }));
    expect(lines.filter((line) => line.includes('StatefulSet'))).toEqual([]);
    expect(lines).toContain('create Secret db-app');
    expect(lines.at(-1)).toBe('wait AwaitingCertificates');
  });

  it('is blocked where it cannot be used', async () => {
    const shown = shownBy(0, fromSecret);
    shown.secrets[source] = { ...brought(first), 'tls.key': brought(first)['tls.key'] ?? '' };
    expect(words(await plan(shown, { ...nobody, spec: { instances: 3 } })).at(-1)).toBe('blocked CertificateUnusable');
  });

  it('gets it before anybody starts', async () => {
    const shown = shownBy(0, fromSecret);
    shown.secrets[source] = brought(first);
    const { steps, outcome } = await plan(shown, { ...nobody, spec: { instances: 3 } });
    expect(words({ steps, outcome }).at(-1)).toBe('wait IssuingCertificates');
    expect(shown.carryOut(steps)).toEqual(['copy all of shop-db-tls']);
    const lines = words(await plan(shown, { ...nobody, spec: { instances: 3 } }));
    expect(lines).toContain('create StatefulSet db-0');
    expect(lines).toContain('create ConfigMap db-server-ca');
  });

  it('begins with the certificate of the operator where its members show that', async () => {
    const shown = shownBy(3, fromSecret);
    shown.secrets[source] = brought(first);
    const running: Story = { before: {} };
    expect(await next(shown, running)).toEqual(['copy all of db-server-tls']);
    // The templates follow, and only then the next step.
    const lines = words(await plan(shown, running));
    expect(lines.filter((line) => line.startsWith('apply StatefulSet'))).toHaveLength(3);
  });

  it('is made again where members trust the CA of the source, and no more than that', async () => {
    const copy = brought(first);
    const shown = shownBy(3, fromSecret, copy);
    shown.secrets[source] = brought(first);
    shown.secrets['db-shown-tls'] = undefined as never;
    expect(await next(shown)).toEqual(['copy all of shop-db-tls']);
  });

  it('is lost where members trust another CA than that of the source', async () => {
    const shown = shownBy(3, fromSecret, brought(first));
    shown.secrets[source] = brought(second);
    shown.secrets['db-shown-tls'] = undefined as never;
    expect(words(await plan(shown, {})).at(-1)).toBe('blocked CertificatesLost');
  });
});

describe('who is let in by certificate', () => {
  const text = (spec: Parameters<typeof postgresCluster>[0]): string =>
    JSON.stringify(
      postgresChildren(
        postgresCluster({ ...spec, pooler: {}, monitoring: {} }),
        new Map([[0, 'resume']]),
        () => 'a',
      ).map(({ object }) => object),
    );

  it.each([fromSecret, ofOperator])(
    'is said by the CA of the operator, whoever has signed what is shown: %o',
    (spec) => {
      const objects = text(spec);
      for (const file of ['ssl_ca_file', 'client_tls_ca_file'])
        expect(objects.match(new RegExp(`${file}[^,\\\\]*\\\\?"?[^,]*?(/etc[^\\\\"]*)`, 'g'))?.join()).not.toContain(
          'server-ca',
        );
      // The file that it names comes from the operator's own Secret.
      expect(objects).toContain('{"secret":{"name":"db-server-tls","items":[{"key":"ca.crt","path":"ca.crt"}]}}');
      expect(objects).toContain(
        '{"secret":{"name":"db-shown-tls","items":[{"key":"tls.crt","path":"server.crt"},{"key":"tls.key","path":"server.key"},{"key":"ca.crt","path":"server-ca.crt"}]}}',
      );
      expect(objects.match(/"db-shown-tls","items":\[[^\]]*"path":"ca.crt"/g)).toEqual([
        '"db-shown-tls","items":[{"key":"ca.crt","path":"ca.crt"',
      ]);
    },
  );

  it('the operator checks members with the CAs of the copy, and shows its own certificate', async () => {
    const shown = shownBy(3, fromSecret, brought(first));
    const io = { secret: (name: string) => Promise.resolve(shown.secrets[name]) } as never;
    const { tls } = await operatorSession(postgresCluster(fromSecret), '10.0.0.1', io);
    expect(tls).toMatchObject({
      ca: first.certificate,
      anyName: true,
      cert: shown.secrets['db-operator-tls']?.['tls.crt'],
    });
    const plain = await operatorSession(postgresCluster(), '10.0.0.1', io);
    expect(plain.tls).toMatchObject({
      ca: shown.secrets['db-operator-tls']?.['ca.crt'],
      servername: 'db-primary.apps.svc',
    });
    expect(plain.tls?.anyName).toBeUndefined();
  });
});

describe('a plan', () => {
  it('tells what follows where a running cluster is to show another certificate', () => {
    const of = (story: Story): readonly string[] => {
      const { cluster, children } = postgresWorld(story);
      return forecastPostgres(cluster, children);
    };
    expect(of({ before: {}, spec: fromSecret })).toEqual([
      'members restart once with a copy of the certificate that they show, and show that of Secret shop-db-tls when each of them trusts its CA',
    ]);
    expect(of({ spec: fromSecret })).toEqual([]);
    expect(of({})).toEqual([]);
  });
});

describe('names', () => {
  it('that clients call members by, and that it is not valid for, are said', async () => {
    const shown = shownBy(3, fromSecret, brought(first, undefined, ['db.example.com', 'db-primary.apps.svc']));
    shown.secrets[source] = copyOf(shown);
    const situation = await shown.situation();
    const { conditions } = postgresStatus(
      situation,
      planPostgres(situation, () => undefined),
    );
    expect(conditions.find(({ type }) => type === 'SpecWarning')).toMatchObject({
      reason: 'CertificateNames',
      message: expect.stringMatching(/shop-db-tls, is not valid for db-replicas.apps.svc: clients/) as string,
    });
  });
});

describe('at every moment', () => {
  /** The same digits for the same seed. */
  function random(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
      return state / 4_294_967_296;
    };
  }
  const cas = [first, second, company('other')];
  const verdicts = new Map<string, Promise<string | undefined>>();
  const refused = (one: Values, trusted: string): Promise<string | undefined> => {
    const key = `${one['tls.crt']}${trusted}`;
    const known = verdicts.get(key) ?? refusalOf({ cert: one['tls.crt'] ?? '', key: one['tls.key'] ?? '' }, trusted);
    verdicts.set(key, known);
    return known;
  };

  it.each(Array.from({ length: 4 }, (_, seed) => seed))(
    'each member accepts what the others show, whatever the source does and whenever kubelets bring it (%i)',
    async (seed) => {
      const chance = random(seed + 1);
      const pick = (count: number): number => Math.floor(chance() * count);
      const copy = brought(first);
      const shown = shownBy(3, fromSecret, copy);
      shown.secrets[source] = copy;
      let changes = 0;
      for (let tick = 0; tick < 80; tick += 1) {
        shown.at += 20_000;
        if (chance() < 0.04) shown.secrets[source] = brought(cas[pick(cas.length)] ?? first);
        if (chance() < 0.02) shown.spec = shown.spec === fromSecret ? ofOperator : fromSecret;
        for (const index of [0, 1, 2]) {
          if (chance() < 0.15) shown.deliver(index);
          // A restart.
          if (chance() < 0.03) shown.read(index);
        }
        changes += (await next(shown)).filter((line) => line.startsWith('copy')).length;
        for (const one of shown.members) {
          for (const by of shown.members) {
            // libpq reads the file that is there.
            expect(await refused(one.shows, by.files['ca.crt'] ?? ''), `tick ${tick}`).toBeUndefined();
            expect(await refused(one.files, by.files['ca.crt'] ?? ''), `tick ${tick}`).toBeUndefined();
          }
        }
      }
      expect(changes).toBeGreaterThan(0);
    },
    60_000,
  );
});
