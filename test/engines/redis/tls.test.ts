/** TLS beside plaintext: what is made, what servers are told, when the port is closed again, and what the status says of it. */
import { describe, expect, it } from 'vitest';
import type { ClusterStatus } from '../../../src/api/status.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import type { CertificatesSeen } from '../../../src/engines/redis/observe/certificates.ts';
import type { DataNode } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { forecastRedis } from '../../../src/engines/redis/plan/forecast.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { serverCaChildren } from '../../../src/engines/redis/resources/certificates.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { fingerprinted } from '../../../src/plan/difference.ts';
import { stored } from '../../../src/testing/stored-object.ts';
import { plannedIn } from '../../support/plan-words.ts';
import { redisCluster, redisWorld, type Story } from '../../support/redis-situation.ts';

const at = Date.parse('2030-01-01T00:00:00Z');
const hourMs = 3_600_000;
const tls = { server: { secretRef: { name: 'theirs' } } } as const;
const spec: RedisSpecInput = { tls };
const everybody = ['db-0', 'db-1', 'db-2'];

const facts = {
  certificate: { notBefore: at - hourMs, notAfter: at + 1000 * hourMs, names: [] },
  end: at + 1000 * hourMs,
  isCurrent: true,
  isSameCa: true,
  hasNextCa: true,
  isOrdered: true,
  hasOtherCa: false,
};
const copy = { trusted: 'CAs', digest: 'd1', fingerprint: 'f1' };
const seen = (change: Partial<typeof facts> = {}): CertificatesSeen => ({
  source: { source: { digest: 's' }, copy: { digest: 'c', facts: { ...facts, ...change } } },
  copy,
});
const withTls: Partial<DataNode> = { tls: { port: 6380, digest: 'd1' }, shown: { fingerprint: 'f1' } };
const without: Partial<DataNode> = { tls: { port: 0 } };
const serverCa = 'create ConfigMap db-server-ca';
/** Clients are told these CAs since so many minutes. */
const toldFor =
  (minutes: number, trusted = copy.trusted): NonNullable<Story['children']> =>
  (objects) => [
    ...objects,
    ...serverCaChildren(redisCluster(spec), trusted, undefined, at - minutes * 60_000).map(({ object }) =>
      stored(fingerprinted(object)),
    ),
  ];

function planned({ observed, ...story }: Story): string[] {
  return plannedIn(redisWorld({ ...story, observed: { at, ...observed } }));
}
function statusIn({ observed, ...story }: Story): string[] {
  const world = redisWorld({ ...story, observed: { at, ...observed } });
  const situation = situationOf(world.cluster, world.children, world.observed);
  const { conditions } = redisStatus(situation, planRedis(situation));
  return conditions.filter(({ status }) => status === 'True').map(({ type, reason }) => `${type} ${reason}`);
}

describe('the objects of a cluster with TLS', () => {
  const objects = (input: RedisSpecInput) => redisResources(redisCluster(input)).map(({ object }) => object);
  const names = (input: RedisSpecInput): string[] =>
    objects(input).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

  it.each<readonly [string, RedisSpecInput, readonly string[]]>([
    ['a Secret', { tls }, ['Secret db-shown-tls']],
    [
      'the operator',
      { tls: { server: { selfManaged: {} } } },
      ['Secret db-ca', 'Secret db-server-tls', 'Secret db-shown-tls'],
    ],
    [
      'cert-manager',
      { tls: { server: { certManager: { issuerRef: { name: 'a' } } } } },
      ['Secret db-shown-tls', 'Certificate db-tls-issued'],
    ],
  ])('with a certificate from %s are these more', (_, input, more) => {
    expect(names(input).filter((name) => !names({}).includes(name))).toEqual(more);
  });

  it('have one more port, and the same pods', () => {
    const changed = objects(spec).filter(
      (object) => !objects({}).some((one) => JSON.stringify(one) === JSON.stringify(object)),
    );
    expect(changed.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Secret db-shown-tls',
      'ConfigMap db-config',
      'Service db',
      'Service db-primary',
      'Service db-replicas',
    ]);
  });
});

describe('a cluster that is to have TLS', () => {
  it.each<readonly [story: string, Story, readonly unknown[]]>([
    [
      'gets a copy of the certificate before anything else',
      {
        spec,
        observed: { certificates: { source: { source: { digest: 's' }, copy: { digest: '' } } } },
        nodes: { all: without },
      },
      ['issue db-shown-tls: copy all', 'wait IssuingCertificates'],
    ],
    [
      'waits for a Secret that is not there',
      {
        spec,
        observed: { certificates: { source: { source: { digest: '', fault: 'is not there' }, copy: { digest: '' } } } },
      },
      ['wait AwaitingCertificates'],
    ],
    [
      'says that nobody can use what is in it',
      {
        spec,
        observed: { certificates: { source: { source: { digest: 's', fault: 'is broken' }, copy: { digest: '' } } } },
      },
      ['blocked CertificateUnusable'],
    ],
    [
      'tells every node at once',
      { spec, observed: { certificates: seen() }, nodes: { all: without } },
      [serverCa, ...everybody.map((pod) => `secure ${pod} d1`), 'wait SecuringConnections'],
    ],
    [
      'tells one again that has another certificate',
      {
        spec,
        observed: { certificates: seen() },
        nodes: { all: withTls, 1: { ...withTls, tls: { port: 6380, digest: 'd0' } } },
      },
      [serverCa, 'secure db-1 d1', 'wait SecuringConnections'],
    ],
    [
      'does not tell one that knows no TLS, and says so',
      { spec, observed: { certificates: seen() }, nodes: { 0: withTls, 1: withTls } },
      [serverCa, 'wait SecuringConnections'],
    ],
    [
      'waits for one that shows another certificate than it has read',
      {
        spec,
        observed: { certificates: seen() },
        nodes: { all: withTls, 2: { ...withTls, shown: { fingerprint: 'f0' } } },
      },
      [serverCa, 'wait SecuringConnections'],
    ],
    [
      'makes nothing where nobody could read what there is',
      {
        spec,
        observed: { certificates: { unread: 'no', source: { source: { digest: '' }, copy: { digest: '' } } } },
        nodes: { all: without },
      },
      ['wait AwaitingCertificates'],
    ],
    ['is at rest then', { spec, observed: { certificates: seen() }, nodes: { all: withTls } }, [serverCa, 'settled']],
    [
      'repairs members whatever becomes of it',
      { spec, observed: { certificates: seen() }, nodes: { all: without }, sentinels: { 0: 'forgot' } },
      [serverCa, 'monitor db-sentinel-0 -> db-0', ...everybody.map((pod) => `secure ${pod} d1`), 'wait Repairing'],
    ],
    [
      'shows a renewed certificate by the same steps',
      { spec, observed: { certificates: seen({ isCurrent: false }) }, nodes: { all: withTls } },
      ['issue db-shown-tls: copy renewal', serverCa, 'settled'],
    ],
    [
      'trusts another CA before it shows a certificate of it',
      {
        spec,
        observed: { certificates: seen({ isCurrent: false, isSameCa: false, hasNextCa: false }) },
        nodes: { all: withTls },
      },
      ['issue db-shown-tls: copy next-ca', serverCa, 'settled'],
    ],
    [
      'shows it when all have read that CA',
      {
        spec,
        observed: { certificates: seen({ isCurrent: false, isSameCa: false }) },
        nodes: { all: withTls },
        children: toldFor(3),
      },
      ['issue db-shown-tls: copy certificate', 'settled'],
    ],
    ...([2.9, undefined] as const).map(
      (minutes) =>
        [
          `but not while clients are told for ${minutes} minutes`,
          {
            spec,
            observed: { certificates: seen({ isCurrent: false, isSameCa: false }) },
            nodes: { all: withTls },
            ...(minutes === undefined ? {} : { children: toldFor(minutes) }),
          },
          [...(minutes === undefined ? [serverCa] : []), 'settled'],
        ] as const,
    ),
    [
      'nor while they are told other CAs',
      {
        spec,
        observed: { certificates: seen({ isCurrent: false, isSameCa: false }) },
        nodes: { all: withTls },
        children: toldFor(9, 'others'),
      },
      [expect.stringMatching(/^apply ConfigMap db-server-ca: .*trusted-since/), 'settled'],
    ],
    [
      'but not while one of them is away',
      {
        spec,
        observed: { certificates: seen({ isCurrent: false, isSameCa: false }) },
        nodes: { all: withTls, 2: 'silent' },
      },
      [serverCa, 'wait MembersNotReady'],
    ],
    [
      'nor while one of them has not',
      {
        spec,
        observed: { certificates: seen({ isCurrent: false, isSameCa: false }) },
        nodes: { all: withTls, 2: { ...withTls, tls: { port: 6380, digest: 'd0' } } },
      },
      [serverCa, 'secure db-2 d1', 'wait SecuringConnections'],
    ],
  ])('%s', (_, story, expected) => expect(planned(story)).toEqual(expected));
});

describe('a node that has lost TLS, of a cluster whose others accept it', () => {
  const failing: Partial<DataNode> = { tls: { port: 6380, digest: 'd1' }, shown: { why: 'no shared cipher' } };
  const rolling: Story = { spec, observed: { certificates: seen() }, pods: { 'db-1': 'outdated' } };
  it.each<readonly [story: string, Story, readonly string[]]>([
    [
      'keeps others from restarting',
      { nodes: { all: withTls, 2: without } },
      ['secure db-2 d1', 'wait SecuringConnections'],
    ],
    [
      'also where it accepts TLS and shows nothing that anybody believes',
      { nodes: { all: withTls, 2: failing } },
      ['wait SecuringConnections'],
    ],
    [
      'and keeps a primary from being handed over',
      { nodes: { all: withTls, 2: without }, pods: { 'db-0': 'outdated' } },
      ['secure db-2 d1', 'wait SecuringConnections'],
    ],
    [
      'but not from itself',
      { nodes: { all: withTls, 1: without } },
      ['secure db-1 d1', 'delete Pod db-1', 'wait Restarting'],
    ],
    [
      'nor where nobody has it',
      { nodes: { all: without } },
      [...everybody.map((pod) => `secure ${pod} d1`), 'delete Pod db-1', 'wait Restarting'],
    ],
    ['nor where its image has no TLS', { nodes: { 0: withTls, 1: withTls } }, ['delete Pod db-1', 'wait Restarting']],
    [
      'nor repairs',
      { nodes: { all: withTls, 2: without }, sentinels: { 0: 'forgot' } },
      ['monitor db-sentinel-0 -> db-0', 'secure db-2 d1', 'wait Repairing'],
    ],
  ])('%s', (_, story, expected) => expect(planned({ ...rolling, ...story })).toEqual([serverCa, ...expected]));
});

describe('the status of a cluster with TLS', () => {
  const certificates = seen();
  it.each<readonly [story: string, Story, readonly string[]]>([
    ['is ready with it', { spec, observed: { certificates }, nodes: { all: withTls } }, ['Ready AllMembersReady']],
    [
      'is not ready before every node accepts it',
      {
        spec,
        observed: { certificates },
        nodes: { all: withTls, 1: without },
        status: { phase: 'Ready', observedGeneration: 1 } as ClusterStatus,
      },
      ['Progressing SecuringConnections', 'Reconciling SecuringConnections'],
    ],
    [
      'stays ready while servers read a renewed certificate',
      {
        spec,
        observed: { certificates },
        nodes: { all: withTls, 1: { ...withTls, tls: { port: 6380, digest: 'd0' } } },
      },
      ['Ready AllMembersReady'],
    ],
    [
      'tells of a name that the certificate lacks',
      {
        spec,
        observed: { certificates: { ...certificates, copy: { ...copy, missingName: 'db-primary.apps.svc' } } },
        nodes: { all: withTls },
      },
      ['Ready AllMembersReady', 'SpecWarning CertificateNames'],
    ],
    [
      'tells that Secrets of its own cannot be read',
      {
        spec,
        observed: { certificates: { unread: 'no', source: { source: { digest: '' }, copy: { digest: '' } } } },
        nodes: { all: { tls: { port: 6380, digest: 'd1' } } },
      },
      ['CertificateHeldBack Unread', 'Ready AllMembersReady'],
    ],
    [
      'tells of a source that cannot be used',
      {
        spec,
        observed: {
          certificates: {
            ...certificates,
            source: { ...certificates.source, source: { digest: 's', fault: 'is broken' } },
          },
        },
        nodes: { all: withTls },
      },
      ['CertificateHeldBack Unusable', 'Ready AllMembersReady'],
    ],
  ])('%s', (_, story, expected) => {
    const conditions = statusIn(story);
    expect(conditions).toEqual(expect.arrayContaining([...expected]));
    expect(conditions.length).toBe(expected.length);
  });
});

it('is degraded where clients refuse the certificate, and nothing is under way', () => {
  const shown = { why: 'certificate has expired' };
  const { cluster, children, observed } = redisWorld({
    spec,
    observed: { at, certificates: seen() },
    nodes: { all: { ...withTls, shown } },
    status: { phase: 'Ready', observedGeneration: 1, initialized: true } as ClusterStatus,
  });
  const situation = situationOf(cluster, children, observed);
  expect(redisStatus(situation, planRedis(situation)).phase).toBe('Degraded');
});

it.each<readonly [story: string, Story, readonly RegExp[]]>([
  ['is to have TLS', { spec, before: {} }, [/^db-0, db-1, db-2 accept TLS on port 6380 .* port 6379 stays open$/]],
  ['has it', { spec }, []],
  [
    'is to have it no more',
    { before: spec },
    [/^port 6380 .* until no client has been connected with TLS for ten minutes/],
  ],
  ['has none', {}, []],
])('the forecast of a cluster that %s', (_, story, expected) => {
  const { cluster, children } = redisWorld(story);
  expect(forecastRedis(cluster, children)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

it('the status names the ports and the ConfigMap for clients with TLS', () => {
  const world = redisWorld({ spec, observed: { at, certificates: seen() }, nodes: { all: withTls } });
  const situation = situationOf(world.cluster, world.children, world.observed);
  const { connection } = redisStatus(situation, planRedis(situation));
  expect(connection).toEqual({
    services: [
      { role: 'primary', host: 'db-primary', port: 6379 },
      { role: 'replicas', host: 'db-replicas', port: 6379 },
      { role: 'sentinel', host: 'db-sentinel', port: 26_379 },
      { role: 'primary-tls', host: 'db-primary', port: 6380 },
      { role: 'replicas-tls', host: 'db-replicas', port: 6380 },
    ],
    secretName: 'db-auth',
    caConfigMapName: 'db-server-ca',
  });
});

describe('a cluster that is to have TLS no more', () => {
  const unused = (minutes: number): ClusterStatus =>
    ({
      initialized: true,
      conditions: [
        {
          type: 'PortUnused',
          status: 'True',
          reason: 'NoTLSClients',
          message: '',
          observedGeneration: 1,
          lastTransitionTime: new Date(at - minutes * 60_000).toISOString(),
        },
      ],
    }) as ClusterStatus;
  const alone: Partial<DataNode> = { tls: { port: 6380, digest: 'd1' }, peers: { connected: 0 } };
  const used: Partial<DataNode> = { ...alone, peers: { connected: 2 } };
  const unknown: Partial<DataNode> = { ...alone, peers: { unknown: 'a reply is too long' } };
  const before: Story = { before: spec };
  const closing = everybody.map((pod) => `close TLS ${pod}`);

  it.each<readonly [story: string, Story, readonly string[], readonly string[]]>([
    ['keeps it for clients that are connected', { nodes: { all: used } }, [], ['SpecWarning TLSInUse']],
    ['for as long as they are', { nodes: { all: alone, 1: used }, status: unused(20) }, [], ['SpecWarning TLSInUse']],
    [
      'and where they cannot be counted',
      { nodes: { all: alone, 1: unknown }, status: unused(20) },
      [],
      ['SpecWarning TLSInUse'],
    ],
    ['begins to count when there is none', { nodes: { all: alone } }, [], ['PortUnused NoTLSClients']],
    ['waits for ten minutes', { nodes: { all: alone }, status: unused(9.9) }, [], ['PortUnused NoTLSClients']],
    [
      'and then closes the port everywhere',
      { nodes: { all: alone }, status: unused(10) },
      closing,
      ['PortUnused NoTLSClients'],
    ],
    [
      'where it is not closed yet',
      { nodes: { all: alone, 0: without }, status: unused(10) },
      closing.slice(1),
      ['PortUnused NoTLSClients'],
    ],
  ])('%s', (_, story, acts, conditions) => {
    const all = { ...before, ...story };
    expect(planned(all).filter((step) => !/^(apply|delete)/.test(step))).toEqual([...acts, 'settled']);
    expect(statusIn(all).filter((one) => !one.startsWith('Ready'))).toEqual(conditions);
  });

  it('does not close it while a node is not heard', () => {
    const story = { ...before, nodes: { all: alone, 2: 'silent' as const }, status: unused(20) };
    expect(planned(story).filter((step) => step.startsWith('close'))).toEqual([]);
  });

  it('begins to count anew after nobody has looked for a while', () => {
    const said = (minutes: number): ClusterStatus => {
      const status = unused(20);
      const message = `no client is connected with TLS, last seen at ${new Date(at - minutes * 60_000).toISOString()}; port`;
      return { ...status, conditions: (status.conditions ?? []).map((one) => ({ ...one, message })) };
    };
    const told = (minutes: number): readonly [string[], string[]] => {
      const story = { ...before, nodes: { all: alone }, status: said(minutes) };
      return [
        planned(story).filter((step) => step.startsWith('close')),
        statusIn(story).filter((one) => one.startsWith('Port')),
      ];
    };
    expect(told(3)).toEqual([closing, ['PortUnused NoTLSClients']]);
    expect(told(3.1)).toEqual([[], []]);
  });

  it('has pods that start accept it until then, also where one of them is not heard', () => {
    const touched = (story: Story): string[] =>
      planned({ ...before, ...story }).flatMap((step) =>
        /db-config|Service/.test(step) ? [step.split(':')[0] ?? ''] : [],
      );
    expect(touched({ nodes: { all: alone } })).toEqual([]);
    expect(touched({ nodes: { all: without, 1: alone } })).toEqual([]);
    expect(touched({ nodes: { all: without, 1: 'silent' } })).toEqual([]);
    expect(touched({ nodes: { all: without } })[0]).toBe('apply ConfigMap db-config');
  });

  it('leads clients there until it is closed', () => {
    const touched = (story: Story): string[] =>
      planned({ ...before, ...story }).filter((step) => step.includes('Service'));
    expect(touched({ nodes: { all: alone } })).toEqual([]);
    expect(touched({ nodes: { all: without } }).map((step) => step.split(':')[0])).toEqual([
      'apply Service db',
      'apply Service db-primary',
      'apply Service db-replicas',
    ]);
  });

  it('keeps the proxy as it is until then', () => {
    const proxied: Story = { before: { tls, proxy: {} }, spec: { proxy: {} } };
    const touched = (story: Story): string[] =>
      planned({ ...proxied, ...story }).filter((step) => step.includes('db-proxy'));
    expect(touched({ nodes: { all: alone } })).toEqual([]);
    expect(touched({ nodes: { all: without } }).map((step) => step.split(':')[0])).toEqual([
      'apply ConfigMap db-proxy',
      'apply StatefulSet db-proxy',
    ]);
  });
});
