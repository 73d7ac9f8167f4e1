/**
 * Settings with which PostgreSQL lets nobody in, such as a library that no session can load. Patroni does not get in either, and answers nobody.
 * So what a person corrects in the spec is written into its ConfigMap, and the next start of a pod has it. As in `refused-start.ts`, these are
 * settings of PostgreSQL alone.
 */
import type { ObjectStep } from '../../../plan/plan.ts';
import { configSetting } from '../names.ts';
import type { Situation } from '../observe/situation.ts';
import { sharedConfigOf, writtenConfig } from './pause.ts';
import { parametersPatch } from './shared-config.ts';

/** Nobody knows how many transactions are prepared. */
const held: readonly string[] = [configSetting, 'max_prepared_transactions'];

/** None where anybody answers. */
export function unansweredSettings(situation: Situation): ObjectStep[] {
  const { live, roster, store, observed } = situation;
  const config = sharedConfigOf(situation);
  if (store.systemId === undefined || config === undefined || [...roster.keys()].some((index) => live.has(index)))
    return [];
  const changed = Object.entries(parametersPatch({ ...situation, observed: { ...observed, config } }) ?? {}).filter(
    ([name]) => !held.includes(name),
  );
  if (changed.length === 0) return [];
  const postgresql = fieldsOf(config.postgresql);
  const all = { ...fieldsOf(postgresql.parameters), ...Object.fromEntries(changed) };
  const parameters = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  return writtenConfig(
    situation,
    JSON.stringify({ ...config, postgresql: { ...postgresql, parameters } }),
    changed.map(([name, to]) => ({ path: `metadata.annotations[config].postgresql.parameters.${name}`, to })),
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
