/**
 * Patroni's pause: nobody is elected, and nobody is stopped or started, while an upgrade stops the members one after the
 * other. It is in Patroni's shared configuration, and the operator writes it to the ConfigMap: at its end no member runs.
 */
import { configMaps } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { postgresNames } from '../names.ts';
import type { Situation } from '../observe/situation.ts';
import type { Stage } from '../resources/upgrade-record.ts';

const pauseField = 'pause';
/** Stages of an upgrade that begin when its own pause has ended. The last one lasts until a backup succeeds, and SQL of the user. */
const afterPause: readonly Stage[] = ['starting', 'finishing'];

/** Undefined where the configuration is gone, or cannot be read. */
export function isPauseWritten(situation: Situation): boolean | undefined {
  const config = sharedConfigOf(situation);
  return config === undefined ? undefined : config[pauseField] === true;
}

/** Undefined where only an upgrade has paused Patroni, or nobody. */
export function pausedByPerson(situation: Situation): string | undefined {
  const { upgrade } = situation;
  const isOfUpgrade = upgrade !== undefined && upgrade.isResumed !== true && !afterPause.includes(upgrade.stage);
  if (isOfUpgrade || isPauseWritten(situation) !== true) return undefined;
  return 'Patroni is paused (pause: true in its configuration): it promotes nobody, and starts no PostgreSQL that has stopped';
}

/** The annotation `config` with or without the pause; undefined where it cannot be read. */
export function configWithPause(situation: Situation, isPaused: boolean): string | undefined {
  const config = sharedConfigOf(situation);
  if (config === undefined) return undefined;
  const { [pauseField]: _, ...rest } = config;
  return JSON.stringify(isPaused ? { ...rest, [pauseField]: true } : rest);
}

/** Nothing where it is so already. */
export function pauseSteps(situation: Situation, isPaused: boolean): ObjectStep[] {
  const before = isPauseWritten(situation);
  const config = configWithPause(situation, isPaused);
  if (before === undefined || before === isPaused || config === undefined) return [];
  return writtenConfig(situation, config, [{ path: 'metadata.annotations[config].pause', from: before, to: isPaused }]);
}

/** `config`: what the annotation is to be. What Patroni or a person has written since it was read is not overwritten. */
export function writtenConfig(
  situation: Situation,
  config: string,
  changes: Extract<ObjectStep, { type: 'patch' }>['changes'],
): ObjectStep[] {
  const live = configMapOf(situation);
  const ref = live === undefined ? undefined : refOf(live, configMaps);
  if (live === undefined || ref === undefined) return [];
  const { resourceVersion } = live.metadata;
  return [{ type: 'patch', ref, patch: { metadata: { annotations: { config }, resourceVersion } }, changes }];
}

function configMapOf({ cluster, children }: Situation) {
  return children.get('ConfigMap', postgresNames(cluster.metadata.name).state.config);
}

export function sharedConfigOf(situation: Situation): Readonly<Record<string, unknown>> | undefined {
  const text = configMapOf(situation)?.metadata.annotations?.config;
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    // Patroni refuses it, too.
    return undefined;
  }
}
