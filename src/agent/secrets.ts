/** Keys and targets, by what mounted Secrets hold. */
import { BadKey, type KeyRing, parseKeys } from '../backup/key.ts';
import type { Place } from '../backup/place.ts';
import type { AgentContext } from '../engine/driver/agent-context.ts';
import { Failure } from '../engine/driver/failure.ts';
import { contentOf, optionalLine, secretLine } from '../engine/driver/secret-files.ts';
import { claimTarget } from './target/claim.ts';
import { platformIdentity } from './target/platform-identity.ts';
import { s3Target } from './target/s3.ts';
import type { Target } from './target/target.ts';

/** Undefined where no file is named. */
export async function keysIn(path: string | undefined, { protect }: AgentContext): Promise<KeyRing | undefined> {
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

export async function openTarget(place: Place, context: AgentContext): Promise<Target> {
  switch (place.type) {
    case 'claim':
      return claimTarget(place, context);
    case 's3': {
      const { accessKeyIdFile, secretAccessKeyFile, sessionTokenFile, caFile } = place;
      const ca = caFile === undefined ? undefined : await contentOf(caFile);
      const trust = ca === undefined ? {} : { ca };
      if (accessKeyIdFile === undefined || secretAccessKeyFile === undefined) {
        const identity = platformIdentity(place, ca, (path) => secretLine(path, context), context);
        return s3Target(place, { identity, ...trust }, context);
      }
      const sessionToken = await optionalLine(sessionTokenFile, context);
      const secrets = {
        accessKeyId: await secretLine(accessKeyIdFile, context),
        secretAccessKey: await secretLine(secretAccessKeyFile, context),
        ...(sessionToken === undefined ? {} : { sessionToken }),
        ...trust,
      };
      return s3Target(place, secrets, context);
    }
  }
}
