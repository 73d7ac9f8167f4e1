/**
 * What an archive says of itself, as JSON over HTTP: to the kubelet, by the status of the answer, and to the operator, in words. It holds
 * no secret, and whoever reads it takes nothing for granted.
 */

export const archiveReportPort = 8010;
export const archiveReportPath = '/archive';

export interface ArchiveReport {
  /** `following`: connected to the database, and the store takes what comes. */
  readonly state: 'starting' | 'following' | 'failing';
  /** RFC 3339: since when that is so. */
  readonly since: string;
  /** The end of what is stored, in the engine's words; absent before anything is. */
  readonly end?: string;
  /** RFC 3339: when the last piece was stored. */
  readonly storedAt?: string;
  /** Why nothing is stored. */
  readonly problem?: { readonly reason: string; readonly message: string };
  /** The log has a gap, and there is no backup after it yet. */
  readonly gap?: string;
  /** Whether a base backup and the log behind it lead to the end of the log; absent before the store was looked through. */
  readonly hasBase?: boolean;
  /** Why the base backup could not be taken, or retention not do its work. */
  readonly upkeepProblem?: string;
}

const longestText = 500;

/** Of an answer of a foreign process. Undefined for what is no report. */
export function parseArchiveReport(text: string): ArchiveReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const found = fields(value);
  const { state, hasBase } = found;
  const since = time(found.since);
  if ((state !== 'starting' && state !== 'following' && state !== 'failing') || since === undefined) return undefined;
  const [end, storedAt, gap] = [words(found.end), time(found.storedAt), words(found.gap)];
  const { reason, message } = fields(found.problem);
  const upkeepProblem = words(found.upkeepProblem);
  return {
    state,
    since,
    ...(hasBase === undefined ? {} : { hasBase: hasBase === true }),
    ...(end === undefined ? {} : { end }),
    ...(storedAt === undefined ? {} : { storedAt }),
    ...(gap === undefined ? {} : { gap }),
    ...(words(message) === undefined
      ? {}
      : { problem: { reason: words(reason) ?? 'Unexpected', message: words(message) ?? '' } }),
    ...(upkeepProblem === undefined ? {} : { upkeepProblem }),
  };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function time(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) ? value : undefined;
}

/** In one line. */
function words(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.replace(/[^\P{C}]+/gu, ' ').slice(0, longestText);
}
