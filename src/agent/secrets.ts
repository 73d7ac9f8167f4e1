/** What comes from mounted Secrets: read when it is needed, kept out of the log, and of every message. */
import { readFile } from 'node:fs/promises';
import { BadKey, type KeyRing, parseKeys } from '../backup/key.ts';
import type { TlsFiles } from '../backup/members.ts';
import type { Place } from '../backup/place.ts';
import type { TlsMaterial } from '../engines/engine-io.ts';
import { codeOf, Failure } from './failure.ts';
import type { Surroundings } from './surroundings.ts';
import { claimTarget } from './target/claim.ts';
import { platformIdentity } from './target/platform-identity.ts';
import { s3Target } from './target/s3.ts';
import type { Target } from './target/target.ts';

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('SecretUnusable', `${path} cannot be read`, { cause });
  }
}

/** The first line: a newline at the end of a Secret is an accident. */
export async function secretLine(path: string, { protect }: Surroundings): Promise<string> {
  const line = (await contentOf(path)).split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
  if (line === '') throw new Failure('SecretUnusable', `${path} is empty`);
  protect(line);
  return line;
}

/** As above; undefined where no file is named, or none is there. */
export async function optionalLine(path: string | undefined, surroundings: Surroundings): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await secretLine(path, surroundings);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined where no file is named. */
export async function keysIn(path: string | undefined, { protect }: Surroundings): Promise<KeyRing | undefined> {
  if (path === undefined) return undefined;
  const content = await contentOf(path);
  for (const line of content.split('\n')) protect(line.trim());
  try {
    return parseKeys(content);
  } catch (error) {
    if (!(error instanceof BadKey)) throw error;
    throw new Failure('SecretUnusable', `the encryption key in ${path} is not usable`, { cause: error });
  }
}

export async function tlsFrom(files: TlsFiles | undefined): Promise<TlsMaterial | undefined> {
  if (files === undefined) return undefined;
  const { caFile, certFile, keyFile, servername } = files;
  return {
    ca: await contentOf(caFile),
    ...(certFile === undefined ? {} : { cert: await contentOf(certFile) }),
    ...(keyFile === undefined ? {} : { key: await contentOf(keyFile) }),
    ...(servername === undefined ? {} : { servername }),
  };
}

export async function openTarget(place: Place, surroundings: Surroundings): Promise<Target> {
  switch (place.type) {
    case 'claim':
      return claimTarget(place, surroundings);
    case 's3': {
      const { accessKeyIdFile, secretAccessKeyFile, sessionTokenFile, caFile } = place;
      const ca = caFile === undefined ? undefined : await contentOf(caFile);
      const trust = ca === undefined ? {} : { ca };
      if (accessKeyIdFile === undefined || secretAccessKeyFile === undefined) {
        const identity = platformIdentity(place, ca, (path) => secretLine(path, surroundings), surroundings);
        return s3Target(place, { identity, ...trust }, surroundings);
      }
      const sessionToken = await optionalLine(sessionTokenFile, surroundings);
      const secrets = {
        accessKeyId: await secretLine(accessKeyIdFile, surroundings),
        secretAccessKey: await secretLine(secretAccessKeyFile, surroundings),
        ...(sessionToken === undefined ? {} : { sessionToken }),
        ...trust,
      };
      return s3Target(place, secrets, surroundings);
    }
  }
}
