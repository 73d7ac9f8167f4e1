/** What the agent reads and writes besides databases: files and targets. */
import type { KeyRing } from '../backup/key.ts';
import type { Place } from '../backup/place.ts';
import type { AgentContext } from '../engine/driver/agent-context.ts';
import type { Spool } from './spool.ts';
import type { Target } from './target/target.ts';

export interface AgentIO {
  /** Undefined where no file is named. @throws Failure SecretUnusable */
  keys(path: string | undefined, context: AgentContext): Promise<KeyRing | undefined>;
  openTarget(place: Place, context: AgentContext): Promise<Target>;
  /** Keeps all of the content in a directory of the machine, and lets it be read from there. @throws Failure */
  spool(directory: string, content: AsyncIterable<Uint8Array>, context: AgentContext): Promise<Spool>;
}
