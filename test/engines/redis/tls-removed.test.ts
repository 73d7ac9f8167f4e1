/** `tls` is removed: who keeps the port, when it is closed, and what the status says of it. */
import { describe, expect, it } from 'vitest';
import type { ClusterStatus } from '../../../src/api/status.ts';
import type { DataNode } from '../../../src/engines/redis/observe/observed.ts';
import { redisResources } from '../../../src/engines/redis/resources/resources.ts';
import { redisCluster, type Story } from '../../support/redis-situation.ts';
import { at, everybody, planned, seen, spec, statusIn, tls, toldFor, without } from '../../support/redis-tls-story.ts';

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

  describe('and whose certificate goes on', () => {
    const renewed = { certificates: seen({ isCurrent: false }) };
    const certificates = seen();
    const changed = (story: Story): string[] =>
      planned({ ...before, children: toldFor(9), ...story }).filter((step) => !/^(apply|settled)/.test(step));
    it.each<readonly [story: string, Story, readonly string[]]>([
      [
        'is renewed while a server shows it',
        { nodes: { all: used }, observed: renewed },
        ['issue db-shown-tls: copy renewal'],
      ],
      [
        'is told to those that still accept TLS',
        {
          nodes: { all: used, 0: without, 1: { ...used, tls: { port: 6380, digest: 'd0' } } },
          observed: { certificates },
        },
        ['secure db-1 d1'],
      ],
      [
        'is told to nobody when the port is closed',
        {
          nodes: { all: alone, 1: { ...alone, tls: { port: 6380, digest: 'd0' } } },
          observed: { certificates },
          status: unused(10),
        },
        closing,
      ],
    ])('%s', (_, story, expected) => expect(changed(story)).toEqual(expected));

    it('tells clients of its CAs', () => {
      const story = { ...before, nodes: { all: used }, observed: { certificates }, children: toldFor(9, 'others') };
      expect(planned(story).filter((step) => step.includes('db-server-ca'))).toEqual([
        expect.stringMatching(/^apply ConfigMap db-server-ca/),
      ]);
    });
  });

  describe('and had its certificate from cert-manager', () => {
    const asked: Story = { before: { tls: { server: { certManager: { issuerRef: { name: 'a' } } } } } };
    const touched = (story: Story): string[] =>
      planned({ ...asked, ...story }).filter((step) => step.includes('Certificate'));
    it.each<readonly [story: string, Story, readonly string[]]>([
      ['keeps the request while the port is open', { nodes: { all: used } }, []],
      ['keeps it while a node is not heard', { nodes: { all: without, 1: 'silent' } }, []],
      ['takes it back then', { nodes: { all: without } }, ['delete Certificate db-tls-issued']],
      [
        'takes it back when the source is another',
        { spec, nodes: { all: used }, observed: { certificates: seen() } },
        ['delete Certificate db-tls-issued'],
      ],
      [
        'but not that of somebody else',
        {
          nodes: { all: without },
          children: (objects) =>
            objects.map((object) =>
              object.kind === 'Certificate'
                ? { ...object, metadata: { ...object.metadata, ownerReferences: [] } }
                : object,
            ),
        },
        [],
      ],
    ])('%s', (_, story, expected) => expect(touched(story)).toEqual(expected));
  });

  it('loses the Secrets of it with the data', () => {
    const secrets = (deletionTimestamp?: string): string[] => {
      const cluster = redisCluster({}, deletionTimestamp === undefined ? {} : { deletionTimestamp });
      return redisResources(cluster).flatMap(({ object, issued }) => (issued ? [object.metadata.name] : []));
    };
    expect(secrets()).toEqual([]);
    expect(secrets('2030-01-01T00:00:00Z')).toEqual(['db-shown-tls', 'db-ca', 'db-server-tls']);
  });
});
