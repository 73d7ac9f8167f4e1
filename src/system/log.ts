/**
 * Structured logs: JSON lines on stdout, by pino.
 *
 * Secrets are kept out twice. Values under telling names (password, token, the data of a Secret, ...) are replaced
 * wherever they are nested, and every secret value that this process has learned and registered by `protect` is
 * replaced in every text of the finished line, whatever way it came in. The line stays JSON: a value of a Secret may be
 * any text, `"message":"` too.
 */
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

/** What the rest of the project needs of a logger. Fields first, so that every line has some. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(bindings: Record<string, unknown>): Log;
}

export type LogLevel = LevelWithSilent;

export interface LogOptions {
  /** Default `info`. */
  readonly level?: LogLevel | undefined;
  /** Fields of every line, for example `{ component: 'controller' }`. */
  readonly base?: Record<string, unknown> | undefined;
  /** Default stdout, written synchronously: a line that was logged is not lost by a crash. */
  readonly destination?: DestinationStream | undefined;
}

export interface ProtectedLog extends Log {
  /** From now on this value appears in no line. Values under six characters are ignored: they would hit ordinary words. */
  protect(secret: string): void;
  /** The text without such values. */
  conceal(text: string): string;
}

export const REDACTED = '[redacted]';

const MIN_SECRET_LENGTH = 6;
/** Keys and passwords that are in use are told again whenever they are read; those told longest ago go first. */
const MAX_SECRETS = 20_000;
const MAX_DEPTH = 8;
const telling =
  /^(.*passw(or)?d|.*token|.*secret|authorization|requirepass|masterauth|.*private.?key|.*key-data|stringdata)$/i;

export function createLog(options: LogOptions = {}): ProtectedLog {
  /** With each its form inside a JSON string. */
  const secrets = new Map<string, string>();
  const scrubText = (text: string): string => {
    let clean = text;
    for (const secret of secrets.keys()) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  };
  const mayHoldOne = (line: string): boolean => {
    for (const escaped of secrets.values()) if (line.includes(escaped)) return true;
    return false;
  };
  const scrub = (line: string): string =>
    mayHoldOne(line) ? `${JSON.stringify(scrubbed(JSON.parse(line), scrubText))}\n` : line;
  const settings = {
    level: options.level ?? 'info',
    base: options.base === undefined ? null : redactFields(options.base),
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: object) => redactFields(fields),
    },
    serializers: { err: describeError, error: describeError },
    hooks: { streamWrite: scrub },
  };
  // Of its own, pino writes later: what the process prints itself would overtake its log.
  const log = pino(settings, options.destination ?? pino.destination({ dest: 1, sync: true }));
  return {
    ...facade(log),
    conceal: scrubText,
    protect(secret) {
      if (secret.length < MIN_SECRET_LENGTH) return;
      secrets.delete(secret);
      secrets.set(secret, JSON.stringify(secret).slice(1, -1));
      for (const oldest of secrets.keys()) {
        if (secrets.size <= MAX_SECRETS) break;
        secrets.delete(oldest);
      }
    },
  };
}

/** Fields of a child are redacted here, because pino writes them down without asking its formatters. */
function facade(log: Logger): Log {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    child: (bindings) => facade(log.child(redactFields(bindings))),
  };
}

/** A parsed line with `scrub` applied to all its texts, names of fields included. */
function scrubbed(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, scrub));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [scrub(name), scrubbed(inner, scrub)]));
}

function redactFields(fields: object): Record<string, unknown> {
  return redact(fields, 0) as Record<string, unknown>;
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const isSecret = 'kind' in value && value.kind === 'Secret';
  const clean: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const hidden = inner !== undefined && (telling.test(name) || (isSecret && name === 'data'));
    clean[name] = hidden ? REDACTED : redact(inner, depth + 1);
  }
  return clean;
}

/** An error as its message, code and causes. Its other fields stay out: a socket error may carry request headers. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return redact(error, depth);
  const code = 'code' in error ? { code: String(error.code) } : {};
  const cause = error.cause === undefined || depth >= 4 ? {} : { cause: describeError(error.cause, depth + 1) };
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
