/** What of Patroni's shared configuration is not as the spec says. */

import { archiveSlot } from '../names.ts';
import type { Situation } from '../observe/situation.ts';
import { sharedConfig } from '../resources/patroni-config.ts';
import { withCommonSettings } from './common-settings.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * A patch for `PATCH /config`; undefined where all is as it should be, or nobody has told. Fields that the operator does not set stay, but
 * for settings of PostgreSQL: what is not in the spec any more goes.
 */
export function configPatch({ cluster, sets, observed }: Situation): Json | undefined {
  const { config } = observed;
  if (config === undefined) return undefined;
  const wanted = sharedConfig(withCommonSettings({ cluster, sets, observed }));
  const patch = { ...differing(wanted, config), ...withoutArchive(wanted, config) };
  const parameters = unwanted(at(wanted, 'parameters'), at(config, 'parameters'));
  if (Object.keys(parameters).length === 0) return Object.keys(patch).length === 0 ? undefined : patch;
  const { postgresql = {} } = patch as { readonly postgresql?: Json };
  const { parameters: changed = {} } = postgresql as { readonly parameters?: Json };
  return { ...patch, postgresql: { ...postgresql, parameters: { ...changed, ...parameters } } };
}

/** Of the settings of PostgreSQL alone; null takes one away. Undefined where nobody has told. */
export function parametersPatch({ cluster, sets, observed }: Situation): Json | undefined {
  const { config } = observed;
  if (config === undefined) return undefined;
  const [wanted, actual] = [
    at(sharedConfig(withCommonSettings({ cluster, sets, observed })), 'parameters'),
    at(config, 'parameters'),
  ];
  return { ...differing(wanted, actual), ...unwanted(wanted, actual) };
}

/** The slot of an archive that is not wanted any more would keep the log for nobody. */
function withoutArchive(wanted: Json, config: Json): Json {
  const isLeft = !('slots' in wanted) && archiveSlot in objectOf(config.slots);
  return isLeft ? { slots: { [archiveSlot]: null } } : {};
}

function at(config: Json, field: string): Json {
  return objectOf(objectOf(config.postgresql)[field]);
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function differing(wanted: Json, actual: Json): Json {
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([field, value]): [string, unknown][] => {
      if (typeof value !== 'object' || value === null) return actual[field] === value ? [] : [[field, value]];
      const inner = differing(value as Json, objectOf(actual[field]));
      return Object.keys(inner).length === 0 ? [] : [[field, inner]];
    }),
  );
}

/** Null takes a field away. */
function unwanted(wanted: Json, actual: Json): Json {
  return Object.fromEntries(
    Object.keys(actual).flatMap((name): [string, null][] => (name in wanted ? [] : [[name, null]])),
  );
}
