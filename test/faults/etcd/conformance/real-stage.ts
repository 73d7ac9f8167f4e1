/** The stage with real members: each has an address of its own on the loopback network, and a directory that it keeps. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exchangeOver } from '../../../../src/runtime/http-exchange.ts';
import { dialTcp } from '../../../../src/system/dial.ts';
import { changeInPlace } from '../../../support/etcd-story.ts';
import { until } from '../../../support/until.ts';
import { type End, environmentOf, heard, hostNumber, type Stage } from './stage.ts';

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<End>;
}

/** `network`: of 127/8, the second and third byte that no other stage has. */
export function realStage(binary: string, network: string): Stage {
  const directory = mkdtempSync(join(tmpdir(), 'etcd-stage-'));
  const running = new Map<string, Running>();
  const address = (member: string): string => `127.${network}.${hostNumber(member)}`;

  async function stop(member: string, signal: NodeJS.Signals): Promise<void> {
    const process = running.get(member);
    process?.child.kill(signal);
    await process?.ended;
  }

  const stage: Stage = {
    peerUrl: (member) => `http://${address(member)}:2380`,
    async start(member, options) {
      const ip = address(member);
      const child = spawn(binary, [], {
        env: {
          ...environmentOf(stage, member, options),
          ETCD_DATA_DIR: join(directory, member),
          ETCD_LISTEN_PEER_URLS: `http://${ip}:2380`,
          ETCD_LISTEN_CLIENT_URLS: `http://${ip}:2379`,
          ETCD_LISTEN_METRICS_URLS: `http://${ip}:2381`,
          ETCD_LOG_LEVEL: 'warn',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let words = '';
      const log = (chunk: Buffer): void => {
        words = (words + chunk.toString()).slice(-4096);
      };
      child.stdout.on('data', log);
      child.stderr.on('data', log);
      const ended = new Promise<End>((resolve) => child.once('close', (code) => resolve({ code, words })));
      running.set(member, { child, ended });
    },
    async ask(member, path, body = {}, { token, withinMs = 30_000 } = {}) {
      try {
        const { status, body: text } = await exchangeOver(dialTcp, {
          host: address(member),
          port: 2379,
          method: 'POST',
          path: `/v3/${path}`,
          body: JSON.stringify(body),
          ...(token === undefined ? {} : { headers: { authorization: token } }),
          signal: AbortSignal.timeout(withinMs),
        });
        return heard(status, text);
      } catch {
        return 'no answer';
      }
    },
    async probe(member, path) {
      const signal = AbortSignal.timeout(5_000);
      const request = { host: address(member), port: 2381, method: 'GET', path, signal } as const;
      return exchangeOver(dialTcp, request).then(
        ({ status }) => status === 200,
        () => false,
      );
    },
    async metrics(member) {
      const signal = AbortSignal.timeout(5_000);
      const request = { host: address(member), port: 2381, method: 'GET', path: '/metrics', lines: /^etcd_/ } as const;
      return exchangeOver(dialTcp, { ...request, signal }).then(
        ({ body }) => body,
        () => undefined,
      );
    },
    kill: (member) => stop(member, 'SIGKILL'),
    terminate: (member) => stop(member, 'SIGTERM'),
    async spoil(member) {
      const database = join(directory, member, 'member/snap/db');
      // It writes its database a moment after its log.
      await until('the database holds it', () => changeInPlace(database, 'x'.repeat(2000), `${'x'.repeat(1999)}y`));
    },
    async wipe(member) {
      rmSync(join(directory, member), { recursive: true, force: true });
    },
    hasEnded(member) {
      const child = running.get(member)?.child;
      return child !== undefined && (child.exitCode !== null || child.signalCode !== null);
    },
    ended: async (member) => {
      const end = await running.get(member)?.ended;
      if (end === undefined) throw new Error(`${member} has not been started`);
      return end;
    },
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    until: async (what, holds) => {
      await until(
        what,
        async () => {
          if (!(await holds())) throw new Error('not yet');
        },
        { withinMs: 90_000, everyMs: 50 },
      );
    },
    async close() {
      for (const member of running.keys()) await stop(member, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return stage;
}
