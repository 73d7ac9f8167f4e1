/**
 * TLS on real servers that run, by the operator's own eyes, plans and actions: on, a renewal, another CA, and off, while clients connect anew all
 * the time. No server restarts, no replica copies again, and no client gets an error.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { follow } from '../../faults/redis/conformance/conversation.ts';
import { realStage } from '../../faults/redis/conformance/real-stage.ts';
import { password, type Stage, watched } from '../../faults/redis/conformance/stage.ts';
import { madeBy, madeCa } from '../../support/issued-secrets.ts';
import { essentialServers, serverPrograms } from '../../support/redis-program.ts';
import {
  isMountPossible,
  PodFolders,
  plainVisit,
  TlsOperator,
  tlsClient,
  tlsVisit,
  Visitors,
} from '../../support/redis-tls.ts';

const nodes = ['n1', 'n2', 'n3'];
const sentinels = ['s1', 's2', 's3'];
const hourMs = 3_600_000;

async function runningCluster(stage: Stage): Promise<void> {
  await Promise.all([...nodes, ...sentinels].map((member) => stage.start(member)));
  for (const replica of ['n2', 'n3']) await follow(stage, replica, 'n1');
  for (const sentinel of sentinels) {
    await stage.ask(sentinel, 'SENTINEL', 'MONITOR', watched, stage.address('n1'), '6379', '2');
    await stage.ask(sentinel, 'SENTINEL', 'SET', watched, 'auth-pass', password, 'down-after-milliseconds', '3000');
  }
}

/** What changes where a server restarts, or a replica copies again. */
async function history(stage: Stage): Promise<string[]> {
  return Promise.all(
    nodes.map(async (member) => {
      const text = String(await stage.ask(member, 'INFO'));
      return ['run_id', 'sync_full', 'sync_partial_err', 'role']
        .map((key) => new RegExp(`${key}:(\\w+)`).exec(text)?.[1])
        .join(' ');
    }),
  );
}

describe.skipIf(serverPrograms.length === 0 || !isMountPossible)('TLS on a cluster of real servers', () => {
  let stage: Stage | undefined;
  const folders = new PodFolders();
  afterEach(async () => {
    await stage?.close();
    folders.remove();
  });

  it.each([...serverPrograms])(
    '$name: on, renewed, of another CA, and off, without an error of a client',
    async (server) => {
      const at = await realStage((member) =>
        member.startsWith('n') ? folders.program(server, member) : server.server,
      );
      stage = at;
      await runningCluster(at);
      const operator = new TlsOperator({ stage: at, folders, server, nodes, sentinels, spec: { replicas: 3 } });
      await operator.until('at rest', () => operator.isAtRest);
      const before = await history(at);
      const visitors = new Visitors();
      for (const member of nodes)
        visitors.begin(`plain ${member}`, () => plainVisit(at.address(member), member === 'n1'));

      // On. The kubelets bring nothing yet: the operator says so, and nothing happens.
      operator.spec = { replicas: 3, tls: { server: { selfManaged: {} } } };
      const isAwaited = (): boolean => /^SecuringConnections: db-0 waits for its kubelet to mount/.test(operator.ready);
      await operator.until('told of kubelets', isAwaited, 'late');
      await expect(tlsClient(at.address('n1'), operator.serverCa)).rejects.toThrow('ECONNREFUSED');
      await operator.until('secured', () => operator.isAtRest);
      for (const member of nodes)
        visitors.begin(`tls ${member}`, () => tlsVisit(at.address(member), operator.serverCa));
      const serials = async (): Promise<string[]> =>
        Promise.all(
          nodes.map(async (member) => {
            const client = await tlsClient(at.address(member), operator.serverCa);
            client.close();
            return `${client.answer} ${client.serial}`;
          }),
        );
      const [first = ''] = await serials();
      expect(await serials()).toEqual(Array(3).fill(first));

      // Renewed, at two thirds of its life.
      operator.now += 61 * 24 * hourMs;
      const copy = operator.secrets['db-shown-tls'];
      await operator.until('renewed', () => operator.secrets['db-shown-tls'] !== copy && operator.isAtRest);
      const [renewed = ''] = await serials();
      expect(renewed).not.toBe(first);
      expect(await serials()).toEqual(Array(3).fill(renewed));

      // Of another CA: first trusted, then shown, then alone.
      const ca = madeCa('theirs', operator.now);
      operator.secrets.theirs = madeBy(ca, ['db-primary.apps.svc'], operator.now - hourMs);
      operator.spec = { replicas: 3, tls: { server: { secretRef: { name: 'theirs' } } } };
      await operator.until(
        'trusted',
        () => operator.has('CertificateHeldBack') === 'NotTrustedYet' && operator.isAtRest,
      );
      expect(operator.serverCa.match(/BEGIN/g)).toHaveLength(2);
      expect(await serials()).toEqual(Array(3).fill(renewed));
      operator.now += 4 * 60_000;
      await operator.until('shown', () => operator.has('CertificateHeldBack') === undefined && operator.isAtRest);
      const [other = ''] = await serials();
      expect([first, renewed]).not.toContain(other);
      operator.now += 4 * 60_000;
      await operator.until('alone', () => operator.serverCa === ca.certificate && operator.isAtRest);
      expect(await serials()).toEqual(Array(3).fill(other));

      // Off. As long as somebody is connected, the port stays.
      await visitors.end();
      expect(visitors.errors).toEqual([]);
      const last = new Visitors();
      for (const member of nodes) last.begin(`plain ${member}`, () => plainVisit(at.address(member), member === 'n1'));
      const staying = await tlsClient(at.address('n2'), operator.serverCa);
      operator.spec = { replicas: 3 };
      for (let i = 0; i < 3; i++) {
        await operator.pass();
        operator.now += 700_000;
      }
      expect([operator.ready, operator.has('SpecWarning'), operator.has('PortUnused')]).toEqual([
        'AllMembersReady: every member is in sync and reachable',
        'TLSInUse',
        undefined,
      ]);
      (await tlsClient(at.address('n1'), operator.serverCa)).close();
      staying.close();
      await delay(200);
      await operator.until('unused', () => operator.has('PortUnused') === 'NoTLSClients');
      await operator.watch(599_000);
      (await tlsClient(at.address('n1'), operator.serverCa)).close();
      await delay(200);
      operator.now += 1_000;
      await operator.until('closed', () => operator.has('PortUnused') === undefined);
      await expect(tlsClient(at.address('n1'), operator.serverCa)).rejects.toThrow('ECONNREFUSED');
      await last.end();

      expect(last.errors).toEqual([]);
      expect(await history(at)).toEqual(before);
      for (const count of [...Object.values(visitors.counts), ...Object.values(last.counts)])
        expect(count).toBeGreaterThan(3);
    },
  );

  it.each([...essentialServers])('$name: a single node gets TLS, and gives it up', async (server) => {
    const at = await realStage(() => folders.program(server, 'n1'));
    stage = at;
    await at.start('n1');
    const alone = { mode: 'Standalone', replicas: 1 } as const;
    const spec = { ...alone, tls: { server: { selfManaged: {} } } };
    const operator = new TlsOperator({ stage: at, folders, server, nodes: ['n1'], sentinels: [], spec });
    await operator.until('secured', () => operator.isAtRest);
    const client = await tlsClient(at.address('n1'), operator.serverCa);
    expect(client.answer).toBe('PONG');
    client.close();
    await delay(200);
    operator.spec = alone;
    await operator.until('unused', () => operator.has('PortUnused') === 'NoTLSClients');
    await operator.watch(599_000);
    expect(operator.has('PortUnused')).toBe('NoTLSClients');
    operator.now += 1_000;
    await operator.until('closed', () => operator.has('PortUnused') === undefined);
    await expect(tlsClient(at.address('n1'), operator.serverCa)).rejects.toThrow('ECONNREFUSED');
  });
});
