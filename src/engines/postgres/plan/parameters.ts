/** Settings of the spec that PostgreSQL, or Patroni before it, has refused: they are in no file, and the server goes on with its own. */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import type { Situation } from '../observe/situation.ts';
import { parameterNames } from '../resources/parameters.ts';
import { startValues } from '../resources/start-values.ts';
import { withCommonSettings } from './common-settings.ts';
import { largerWords } from './larger-settings.ts';

export const parametersRefused = 'ParametersRefused';

/** `outcome` where it is none of a cluster where everything else is done: nothing waits for it. */
export function withRefusedParameters(situation: Situation, outcome: Outcome): Outcome {
  if (outcome.state !== 'settled') return outcome;
  const words = refusedParameters(situation);
  if (words.length > 0)
    return blocked(
      parametersRefused,
      `${words.join('; ')}: the members run without; correct or remove it in spec.parameters`,
    );
  const larger = largerWords(situation);
  return larger.length === 0 ? outcome : blocked(parametersRefused, larger.join('; '));
}

function refusedParameters(situation: Situation): string[] {
  const { primary } = situation;
  if (primary?.server?.state !== 'seen') return [];
  const common = withCommonSettings(situation);
  const { spec } = common;
  const { settings } = primary.server;
  const started = startValues(common);
  return parameterNames(spec).flatMap((name): string[] => {
    const wanted = spec.parameters[name] ?? '';
    const seen = settings.find((setting) => setting.name === name);
    if (seen === undefined) return [`PostgreSQL ${spec.version} has no parameter ${name}`];
    // On the command line, so that the server calls no value of them its default.
    const isLess = !primary.restartPending && Number(seen.value) < Number(wanted);
    const isOther = started.has(name) && (started.get(name) !== Number(wanted) || isLess);
    if (!seen.isDefault && !isOther) return [];
    return [`${name}=${wanted} is not valid, and ${seen.value} is in force`];
  });
}
