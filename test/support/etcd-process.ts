/** Members of an etcd cluster as processes on the loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsMaterial } from '../../src/engine/engine-context.ts';
import { exchangeOver } from '../../src/runtime/http-exchange.ts';
import { dialTcp } from '../../src/system/dial.ts';
import type { Certificates } from './etcd-certificates.ts';
import { freePort } from './free-port.ts';

type Answer = Readonly<Record<string, unknown>>;

export interface EtcdProcess {
  readonly port: number;
  /** A refusal rejects with the member's words. */
  call(path: string, body?: object, token?: string): Promise<Answer>;
  kill(): void;
}

export interface EtcdProcesses {
  readonly members: readonly EtcdProcess[];
  /** Ends all, calls back with their data directories, and starts them again. */
  restart(between: (directories: readonly string[]) => void): Promise<void>;
  stop(): Promise<void>;
}

export interface EtcdOptions {
  readonly binary: string;
  readonly size?: number;
  /** Only with one member. Default: a new one. */
  readonly dataDirectory?: string;
  readonly certificates?: Certificates;
}

/** Base64, as the gateway wants keys and values. */
export const encoded = (text: string): string => Buffer.from(text).toString('base64');

export async function startEtcd({
  binary,
  size = 1,
  dataDirectory,
  certificates,
}: EtcdOptions): Promise<EtcdProcesses> {
  const home = mkdtempSync(join(tmpdir(), 'etcd-process-'));
  const names = Array.from({ length: size }, (_, i) => `member-${i}`);
  const ports = await Promise.all(names.map(async () => ({ client: await freePort(), peer: await freePort() })));
  const scheme = certificates === undefined ? 'http' : 'https';
  const secured: string[] = [];
  if (certificates !== undefined) {
    for (const [name, content] of Object.entries(certificates)) writeFileSync(join(home, name), content);
    const file = (name: string): string => join(home, name);
    secured.push('--cert-file', file('tls.crt'), '--key-file', file('tls.key'));
    secured.push('--client-cert-auth', '--trusted-ca-file', file('ca.crt'));
  }
  const tls: TlsMaterial | undefined =
    certificates === undefined
      ? undefined
      : { ca: certificates['ca.crt'], cert: certificates['tls.crt'], key: certificates['tls.key'] };
  const initial = names.map((name, i) => `${name}=http://127.0.0.1:${ports[i]?.peer}`).join(',');
  let output = '';
  let children: ChildProcess[] = [];
  const directoryOf = (name: string): string => dataDirectory ?? join(home, name);
  const spawned = (name: string, i: number): ChildProcess => {
    const { client, peer } = ports[i] ?? { client: 0, peer: 0 };
    const directory = directoryOf(name);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const addresses = [
      ...['--listen-client-urls', `${scheme}://127.0.0.1:${client}`],
      ...['--advertise-client-urls', `${scheme}://127.0.0.1:${client}`],
      ...['--listen-peer-urls', `http://127.0.0.1:${peer}`],
      ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ];
    const own = ['--name', name, '--data-dir', directory, '--initial-cluster', initial, '--log-level', 'warn'];
    const child = spawn(binary, [...own, ...addresses, '--unsafe-no-fsync', ...secured], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    return child;
  };
  children = names.map(spawned);
  const members = names.map((_, i): EtcdProcess => {
    const client = ports[i]?.client ?? 0;
    return {
      port: client,
      async call(path, body = {}, token) {
        const { status, body: text } = await exchangeOver(dialTcp, {
          host: '127.0.0.1',
          port: client,
          method: 'POST',
          path: `/v3/${path}`,
          body: JSON.stringify(body),
          ...(token === undefined ? {} : { headers: { authorization: token } }),
          ...(tls === undefined ? {} : { tls }),
          signal: AbortSignal.timeout(10_000),
        });
        if (status !== 200) throw new Error(`${path}: ${text}`);
        return JSON.parse(text) as Answer;
      },
      kill: () => children[i]?.kill('SIGKILL'),
    };
  });
  const end = async (): Promise<void> => {
    const ended = children.map(
      (child) =>
        new Promise<void>((resolve) => {
          if (child.exitCode !== null || child.signalCode !== null) return resolve();
          child.once('exit', () => resolve());
          child.kill('SIGKILL');
        }),
    );
    await Promise.all(ended);
  };
  const stop = async (): Promise<void> => {
    await end();
    rmSync(home, { recursive: true, force: true });
  };
  const started = async (): Promise<void> => {
    for (const member of members) await answers(member);
  };
  const answers = async (member: EtcdProcess): Promise<void> => {
    for (;;) {
      try {
        await member.call('kv/range', { key: encoded('a') });
        break;
      } catch (cause) {
        if (children.some(({ exitCode }) => exitCode !== null)) {
          await stop();
          throw new Error(`etcd did not start:\n${output}`, { cause });
        }
        if (/user name is empty/.test(String(cause))) break;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    }
  };
  await started();
  return {
    members,
    async restart(between) {
      await end();
      between(names.map(directoryOf));
      children = names.map(spawned);
      await started();
    },
    stop,
  };
}
