/** TLS beside plaintext: what is made, what servers are told, when the port is closed again, and what the status says of it. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { ClusterStatus } from '../../../src/api/status.ts';
import type { RedisSpecInput } from '../../../src/engines/redis/kind/schema.ts';
import type { DataNode } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { forecastRedis } from '../../../src/engines/redis/plan/forecast.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { redisCluster, redisWorld, type Story } from '../../support/redis-situation.ts';
import {
  at,
  copy,
  everybody,
  planned,
  seen,
  serverCa,
  spec,
  statusIn,
  tls,
  toldFor,
  without,
  withTls,
} from '../../support/redis-tls-story.ts';

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

it('data pods alone mount the certificate, readable for the server and nobody else', () => {
  const volumes = (name: string): unknown[] => {
    const isSet = ({ kind, metadata }: KubeObject): boolean => kind === 'StatefulSet' && metadata.name === name;
    const set = redisResources(redisCluster(spec)).find(({ object }) => isSet(object))?.object;
    const pods = set?.spec as { template: { spec: { volumes: { name: string }[] } } } | undefined;
    return (pods?.template.spec.volumes ?? []).filter((one) => one.name === 'tls');
  };
  const secret = { secretName: 'db-shown-tls', optional: true, defaultMode: 0o440 };
  expect(volumes('db')).toEqual([{ name: 'tls', secret }]);
  expect(volumes('db-sentinel')).toEqual([]);
});

describe('why a cluster is not ready with TLS', () => {
  const messageIn = ({ observed, ...story }: Story): string => {
    const world = redisWorld({ ...story, observed: { at, ...observed } });
    const { outcome } = planRedis(situationOf(world.cluster, world.children, world.observed));
    return outcome.state === 'settled' ? '' : outcome.message;
  };
  const staged = (digest: string): Story => ({
    spec,
    observed: { certificates: seen() },
    nodes: { all: withTls, 1: { tls: { port: 0, staged: digest } } },
  });
  it.each<readonly [story: string, Story, RegExp]>([
    ['a kubelet is late', { ...staged(''), nodes: { all: withTls, 1: without } }, /^db-1 waits for its kubelet/],
    ['a kubelet still has the one before', staged('d0'), /^db-1 waits for its kubelet to mount the certificate/],
    ['the server has it and refuses it', staged('d1'), /^db-1 has the certificate .* log of the server says why$/],
  ])('%s', (_, story, expected) => expect(messageIn(story)).toMatch(expected));

  it('cert-manager is quoted', () => {
    const asked: RedisSpecInput = { tls: { server: { certManager: { issuerRef: { name: 'a' } } } } };
    const message = 'Referenced "Issuer" not found: issuer "a" not found';
    const status = { conditions: [{ type: 'Ready', status: 'False', message }] };
    const said = (object: KubeObject): KubeObject => (object.kind === 'Certificate' ? { ...object, status } : object);
    const source = { digest: '', fault: 'is not there' };
    const certificates = { source: { source, copy: { digest: '' } } };
    const story: Story = { spec: asked, observed: { certificates }, children: (objects) => objects.map(said) };
    expect(messageIn(story)).toBe(
      `Secret db-tls-issued is not there: cert-manager says of Certificate db-tls-issued: ${message}`,
    );
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
    ...(['', '2039-01-01T00:00:00.000Z', 'soon'] as const).map(
      (since) =>
        [
          `nor where somebody has written that they are told since '${since}'`,
          {
            spec,
            observed: { certificates: seen({ isCurrent: false, isSameCa: false }) },
            nodes: { all: withTls },
            children: (objects: readonly KubeObject[]) =>
              toldFor(9)(objects).map((object) => {
                const { metadata } = object;
                const annotations = { ...metadata.annotations, 'clusterwright.dev/trusted-since': since };
                return metadata.name === 'db-server-ca'
                  ? { ...object, metadata: { ...metadata, annotations } }
                  : object;
              }),
          },
          [expect.stringMatching(/^apply ConfigMap db-server-ca: .*trusted-since/), 'settled'],
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
