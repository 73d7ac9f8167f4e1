/** What comes from mounted Secrets: read when it is needed, kept out of the log, and of every message. */
import { readFile } from 'node:fs/promises';
import type { TlsFiles } from '../../backup/members.ts';
import type { TlsMaterial } from '../engine-context.ts';
import type { AgentContext } from './agent-context.ts';
import { codeOf, Failure } from './failure.ts';

export async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('SecretUnusable', `${path} cannot be read`, { cause });
  }
}

/** The first line: a newline at the end of a Secret is an accident. */
export async function secretLine(path: string, { protect }: AgentContext): Promise<string> {
  const line = (await contentOf(path)).split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
  if (line === '') throw new Failure('SecretUnusable', `${path} is empty`);
  protect(line);
  return line;
}

/** As above; undefined where no file is named, or none is there. */
export async function optionalLine(path: string | undefined, context: AgentContext): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await secretLine(path, context);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function tlsFrom(files: TlsFiles | undefined): Promise<TlsMaterial | undefined> {
  if (files === undefined) return undefined;
  const { caFile, certFile, keyFile, servername, anyName } = files;
  return {
    ca: await contentOf(caFile),
    ...(certFile === undefined ? {} : { cert: await contentOf(certFile) }),
    ...(keyFile === undefined ? {} : { key: await contentOf(keyFile) }),
    ...(servername === undefined ? {} : { servername }),
    ...(anyName === undefined ? {} : { anyName }),
  };
}
