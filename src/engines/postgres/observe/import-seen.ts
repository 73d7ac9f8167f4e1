/** What a member says of its import, and what it is to know for it. Its answer is a foreign process's: bounded, and nothing of it is trusted. */
import { shortened } from '../../../api/bounds.ts';
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext } from '../../../engine/engine-context.ts';
import { SecretUnusable } from '../client/credentials.ts';
import { sourceSecrets } from '../client/source.ts';
import type { PostgresSpec } from '../kind/schema.ts';

/**
 * In order:
 * - `waiting`: nobody has told it the password of the source.
 * - `connecting`, `copying`: a base backup is taken.
 * - `following`: the copy replays what the source writes.
 * - `cutting-over`: somebody has asked for it.
 *
 * And at any time `failing`, which may pass by itself, and `refused`, which a person has to change something for.
 */
const phases = ['waiting', 'connecting', 'copying', 'following', 'cutting-over', 'failing', 'refused'] as const;
export type ImportPhase = (typeof phases)[number];

export interface ImportSeen {
  readonly phase: ImportPhase;
  /** Why it does not get on. */
  readonly problem?: string;
  readonly message?: string;
  /** Bytes of the base backup: copied, and about how many there are. */
  readonly copied?: number;
  readonly total?: number;
  /** Positions in the log, in bytes: of the source when it answered last, on the disk here, and replayed here. */
  readonly source?: number;
  readonly received?: number;
  readonly replayed?: number;
  /** What a person has to know before or after the cut-over. */
  readonly notes: readonly string[];
  /** With which secrets it works. */
  readonly digest?: string;
  /** The request to cut over that it has got, and why it was refused. */
  readonly asked?: string;
  readonly refusal?: string;
}

/** What the Secrets of the source say, without the secrets. */
export type SourceSeen =
  | { readonly state: 'seen'; readonly digest: string }
  | { readonly state: 'unusable'; readonly why: string };

const mostNotes = 8;

/** Undefined where the member does not import. */
export function importSeen(answer: unknown): ImportSeen | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const told = answer as Readonly<Record<string, unknown>>;
  const phase = phases.find((one) => one === told.phase);
  if (phase === undefined) return undefined;
  const texts = {
    problem: told.problem,
    message: told.message,
    digest: told.digest,
    asked: told.asked,
    refusal: told.refusal,
  };
  const numbers = {
    copied: told.bytes,
    total: told.total,
    source: told.source,
    received: told.received,
    replayed: told.replayed,
  };
  const notes = Array.isArray(told.notes)
    ? told.notes.slice(0, mostNotes).flatMap((note: unknown) => line(note) ?? [])
    : [];
  return { phase, ...defined(texts, line), ...defined(numbers, position), notes };
}

function defined<Name extends string, Value>(
  values: Readonly<Record<Name, unknown>>,
  read: (value: unknown) => Value | undefined,
): { readonly [Key in Name]?: Value } {
  const pairs = Object.entries(values).map(([name, value]): [string, Value | undefined] => [name, read(value)]);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) as { readonly [Key in Name]?: Value };
}

function position(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** In one line. */
function line(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? shortened(value.replace(/[\p{Cc}\s]+/gu, ' '), 1000) : undefined;
}

export async function observeSource(cluster: Cluster<PostgresSpec>, io: EngineContext): Promise<SourceSeen> {
  try {
    const { digest } = await sourceSecrets(cluster, io);
    return { state: 'seen', digest };
  } catch (error) {
    io.signal.throwIfAborted();
    if (error instanceof SecretUnusable) return { state: 'unusable', why: error.message };
    throw error;
  }
}
