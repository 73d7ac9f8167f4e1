/**
 * What an agent's last words come to. They are the output of an image, which may be any: they are taken only in the form
 * that the agent gives them, within bounds, and what is not in that form is a failure like others.
 *
 * Fields that are not known are left out: an agent of a later release may say more.
 */
import { schemaViolations } from '../api/check.ts';
import { prune } from '../api/prune.ts';
import type { StructuralSchema } from '../api/schema.ts';
import { displayPath } from '../api/violation.ts';
import { type AgentResult, maxResultBytes } from './agent-result.ts';
import { idPattern } from './agent-task.ts';
import { engineNameSchema, mostContents } from './engine-data.ts';
import { clusterIdentitySchema, purposeSchema } from './identity.ts';
import { withoutSecrets } from './secret-text.ts';

/** Of what one half of an engine tells the other; it stands on a claim. */
const mostTold = 2000;

const text = (maxLength: number) => ({ type: 'string', maxLength }) as const satisfies StructuralSchema;
const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const duration = { type: 'number', minimum: 0 } as const;
const time = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$',
  maxLength: 40,
} as const;

const summary: StructuralSchema = (() => {
  const required = {
    id: { type: 'string', pattern: idPattern },
    folder: text(2048),
    engine: engineNameSchema,
    engineVersion: text(253),
    cluster: clusterIdentitySchema,
    purpose: purposeSchema,
    startedAt: time,
    completedAt: time,
    plainBytes: count,
    storedBytes: count,
    plainSha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    encrypted: { type: 'boolean' },
  } as const satisfies Readonly<Record<string, StructuralSchema>>;
  const more = {
    contents: { type: 'object', maxProperties: mostContents, additionalProperties: text(64) },
    authentication: { type: 'boolean' },
  } as const satisfies Readonly<Record<string, StructuralSchema>>;
  return { type: 'object', required: Object.keys(required), properties: { ...required, ...more } };
})();

const listed = {
  type: 'object',
  required: ['id', 'folder', 'cluster', 'plainBytes', 'completedAt'],
  properties: {
    id: { type: 'string', pattern: idPattern },
    folder: text(2048),
    cluster: clusterIdentitySchema,
    plainBytes: count,
    completedAt: time,
  },
} as const satisfies StructuralSchema;

/** Undefined where the value is no result of any kind. */
function schemaOf({ result }: Readonly<Record<string, unknown>>): StructuralSchema | undefined {
  const of = (required: Readonly<Record<string, StructuralSchema>>, more: StructuralSchema['properties'] = {}) => ({
    type: 'object' as const,
    required: ['result', ...Object.keys(required)],
    properties: { result: { type: 'string' as const }, ...required, ...more },
  });
  switch (result) {
    case 'taken':
      return of(
        { backup: summary, isRepeated: { type: 'boolean' }, pruned: count, milliseconds: duration },
        { retentionFailure: text(1000), suddenLoss: text(1000), misleadingIds: text(1000) },
      );
    case 'fetched':
      return of(
        { backup: summary, isRepeated: { type: 'boolean' }, milliseconds: duration },
        { told: { type: 'string', pattern: '^[ -~]*$', maxLength: mostTold } },
      );
    case 'verified':
      return of({ backup: summary, milliseconds: duration });
    case 'listed':
      return of({ total: count, backups: { type: 'array', maxItems: 64, items: listed }, unusable: count });
    case 'failed':
      return of({
        reason: { type: 'string', pattern: '^[A-Za-z]{1,64}$' },
        message: text(4000),
        isTransient: { type: 'boolean' },
      });
    default:
      return undefined;
  }
}

/** What an agent says that has no result, or one that is not as an agent gives it. */
export function unusableResult(why: string): Extract<AgentResult, { readonly result: 'failed' }> {
  const message = `what the agent said at its end cannot be used: ${why}; is its image the operator's?`;
  return { result: 'failed', reason: 'Unexpected', message: message.slice(0, 1000), isTransient: false };
}

/**
 * Undefined where the text says nothing of a result: the process may have been killed before it spoke, or was none of ours.
 * Where it does, and not as the agent would, that is a failure.
 */
export function parseAgentResult(output: string): AgentResult | undefined {
  const line = output.trim().split('\n').at(-1) ?? '';
  if (!line.startsWith('{')) return undefined;
  if (Buffer.byteLength(line) > maxResultBytes) return unusableResult(`it is longer than ${maxResultBytes} bytes`);
  const value = fieldsOf(parsed(line));
  const schema = value === undefined ? undefined : schemaOf(value);
  if (value === undefined || schema === undefined) return undefined;
  const [fault] = schemaViolations(schema, value);
  if (fault !== undefined) return unusableResult(`${displayPath(fault.path)} ${fault.message}`);
  const known = prune(schema, value).value as AgentResult;
  const unreal = timesIn(known).find((at) => Number.isNaN(Date.parse(at)));
  if (unreal !== undefined) return unusableResult(`${unreal} is no time`);
  return cleaned(known);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function timesIn(result: AgentResult): readonly string[] {
  switch (result.result) {
    case 'taken':
    case 'fetched':
    case 'verified':
      return [result.backup.startedAt, result.backup.completedAt];
    case 'listed':
      return result.backups.map(({ completedAt }) => completedAt);
    case 'failed':
      return [];
  }
}

/** On one line, and without what looks like a secret. */
function clean(words: string): string {
  return withoutSecrets(words)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 1000);
}

function cleaned(result: AgentResult): AgentResult {
  if (result.result === 'failed') return { ...result, message: clean(result.message) };
  if (result.result !== 'taken') return result;
  const { retentionFailure, suddenLoss, misleadingIds, ...rest } = result;
  return {
    ...rest,
    ...(retentionFailure === undefined ? {} : { retentionFailure: clean(retentionFailure) }),
    ...(suddenLoss === undefined ? {} : { suddenLoss: clean(suddenLoss) }),
    ...(misleadingIds === undefined ? {} : { misleadingIds: clean(misleadingIds) }),
  };
}
