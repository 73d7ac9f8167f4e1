/**
 * Settings of the spec that PostgreSQL or Patroni has refused. The server continues with its former value. Patroni checks numbers, and leaves those that are not
 * valid out of PostgreSQL's file. Patroni does not check texts: it writes each of them to the file. While PostgreSQL runs, it ignores a text there that is not
 * valid. When PostgreSQL starts, such a text is a fatal error.
 */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import type { Situation } from '../observe/situation.ts';
import { parameterNames } from '../resources/parameters.ts';
import { configDigest } from '../resources/patroni-config.ts';
import { startValues } from '../resources/start-values.ts';
import { withCommonSettings } from './common-settings.ts';
import { largerWords } from './larger-settings.ts';

export const parametersRefused = 'ParametersRefused';

/** `outcome` where it is none of a cluster where everything else is done: nothing waits for it. */
export function withRefusedParameters(situation: Situation, outcome: Outcome): Outcome {
  if (outcome.state !== 'settled') return outcome;
  const refused = refusedSettings(situation);
  if (refused.length > 0) return refusal(refused);
  const larger = largerWords(situation);
  return larger.length === 0 ? outcome : blocked(parametersRefused, larger.join('; '));
}

/** Why PostgreSQL would not start again; undefined where it would. The operator restarts no member then. */
export function withoutStart(situation: Situation): Blocked | undefined {
  const refused = refusedSettings(situation);
  return refused.some(({ stopsStart }) => stopsStart === true) ? refusal(refused) : undefined;
}

/**
 * Whether the primary has had the settings of the spec for `forMs`. Before that, nobody knows what PostgreSQL refuses of them, or whether a member that does not
 * start has tried with them.
 */
export function areSettingsKnown(situation: Situation, forMs: number): boolean {
  const server = situation.primary?.server;
  if (server?.state !== 'seen') return false;
  const { config, configAgeMs } = server.facts;
  return config === configDigest(withCommonSettings(situation)) && configAgeMs >= forMs;
}

interface Refused {
  readonly words: string;
  /** PostgreSQL does not start with it. */
  readonly stopsStart?: true;
}

type Blocked = ReturnType<typeof blocked>;

function refusal(refused: readonly Refused[]): Blocked {
  const words = refused.map((one) => one.words).join('; ');
  const isFatal = refused.some(({ stopsStart }) => stopsStart === true);
  const correct = 'correct or remove it in spec.parameters';
  return blocked(
    parametersRefused,
    isFatal
      ? `${words}: no member is restarted; ${correct}, and if it needs another image, set it again once the members run that`
      : `${words}: the members run without; ${correct}`,
  );
}

function refusedSettings(situation: Situation): readonly Refused[] {
  const { primary } = situation;
  if (primary?.server?.state !== 'seen') return [];
  const common = withCommonSettings(situation);
  const { spec } = common;
  const { settings, facts } = primary.server;
  // It has yet to read them.
  if (facts.config !== configDigest(common)) return [];
  const started = startValues(common);
  return parameterNames(spec).flatMap((name): Refused[] => {
    const wanted = spec.parameters[name] ?? '';
    const seen = settings.find((setting) => setting.name === name);
    if (seen === undefined) return [{ words: `PostgreSQL ${spec.version} has no parameter ${name}` }];
    const words = `${name}=${wanted} is not valid, and ${seen.value} is in force`;
    // On the command line, so that the server calls no value of them its default.
    if (started.has(name)) {
      const isLess = !primary.restartPending && Number(seen.value) < Number(wanted);
      return started.get(name) !== Number(wanted) || isLess ? [{ words }] : [];
    }
    // A value that PostgreSQL refuses is never pending.
    if (seen.isPending) return [];
    const isRefused = seen.isDefault || (seen.isText && !isSameText(name, wanted, seen.value));
    if (!isRefused) return [];
    const isFatal = seen.isText || checked.includes(name);
    return [isFatal ? { words: `${words} until the next start, which fails`, stopsStart: true } : { words }];
  });
}

/** Settings that are no texts. Patroni accepts some values of them that PostgreSQL refuses, and writes these to the file. */
const checked: readonly string[] = ['file_extend_method', 'max_stack_depth', 'vacuum_buffer_usage_limit'];
/** PostgreSQL does not show these as they are written. */
const rewritten: readonly string[] = ['client_encoding', 'datestyle', 'default_text_search_config'];
/** Of a time zone, such as `-3`, `.5` and `INTERVAL '+03:00'`. PostgreSQL shows a name for it, such as `<-03>+03`. */
const offset = /^\s*(?:interval\b|[-+<.\d])/i;
/** Of the others, PostgreSQL counts and shows characters by the encoding of the database. */
const ascii = /^[\x20-\x7e]*$/;

/** True also where the two cannot be compared. */
function isSameText(name: string, wanted: string, value: string): boolean {
  if (rewritten.includes(name) || !ascii.test(wanted)) return true;
  const shown = wanted.slice(0, 200);
  if (!name.endsWith('timezone')) return shown === value;
  const isOffset = offset.test(wanted) && value.startsWith('<');
  return isOffset || shown.toLowerCase() === value.toLowerCase();
}
