/** A real server that speaks S3, on a port of the loopback: the sandbox's own program, where it has been compiled. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryPath } from '../../src/sandbox/binaries.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';
import type { Certificates } from './etcd-certificates.ts';
import { freePort } from './free-port.ts';

const binary = binaryPath(layoutOf(process.env), 'versitygw');

export const hasS3Server = existsSync(binary);

export const s3Access = { accessKeyId: 'backup-writer', secretAccessKey: 'not-to-be-seen-in-any-log' } as const;

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** Every file of the bucket, the server's own among them. */
  files(): readonly string[];
  /** Where the files of the bucket are. */
  readonly directory: string;
  kill(): void;
  stop(): Promise<void>;
}

export async function startS3(certificates?: Certificates): Promise<S3Server> {
  const home = mkdtempSync(join(tmpdir(), 's3-server-'));
  const bucket = 'backups';
  const directory = join(home, 'root', bucket);
  mkdirSync(directory, { recursive: true });
  const port = await freePort();
  const secured: string[] = [];
  if (certificates !== undefined) {
    writeFileSync(join(home, 'tls.crt'), certificates['tls.crt']);
    writeFileSync(join(home, 'tls.key'), certificates['tls.key']);
    secured.push('--cert', join(home, 'tls.crt'), '--key', join(home, 'tls.key'));
  }
  const { accessKeyId, secretAccessKey } = s3Access;
  const options = ['--access', accessKeyId, '--secret', secretAccessKey, '--port', `127.0.0.1:${port}`, '--keep-alive'];
  const backend = ['posix', '--sidecar', join(home, 'metadata'), join(home, 'root')];
  mkdirSync(join(home, 'metadata'));
  const child = spawn(binary, [...options, ...secured, ...backend], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(home, { recursive: true });
  };
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`the S3 server did not start:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    endpoint: `${certificates === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    bucket,
    directory,
    files: () =>
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
        .sort(),
    kill: () => child.kill('SIGKILL'),
    stop,
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
