/**
 * What every engine has to keep, whatever it runs, as checks for any test framework. A check asks only for what follows
 * from the engine's own kind and managed resources: an engine without volumes needs no rights on claims.
 */
import type { EngineFormat } from '../backup/engine-data.ts';
import type { DefinedEngine } from '../jobs/handlers.ts';
import { assessmentChecks } from './assessment-checks.ts';
import { backupChecks } from './backup-checks.ts';
import type { Problems } from './check.ts';
import { kindChecks } from './kind-checks.ts';
import { permissionChecks } from './permission-checks.ts';
import { resourceChecks } from './resource-checks.ts';
import type { EngineSample } from './sample.ts';
import { volumeChecks } from './volume-checks.ts';

export interface ConformanceOptions {
  /** At least one with an empty spec, one with everything set, and one for each part that a spec can switch on or off. */
  readonly samples: readonly EngineSample[];
  /** Of an engine that has backups: its driver. Tasks are checked by the driver's schemas. */
  readonly driver?: EngineFormat;
  /** Image of the Jobs that the engine's plans contain. Default `agent:1`. */
  readonly agentImage?: string;
}

export interface ConformanceCheck {
  /** `defaults: pods satisfy the restricted Pod Security Standard` */
  readonly name: string;
  /** Throws, or rejects, with an error whose message says what is wrong, a line for each mistake. */
  run(): Promise<void>;
}

/** @throws where an engine has backups, and no driver is given */
export function conformanceChecks(engine: DefinedEngine, options: ConformanceOptions): readonly ConformanceCheck[] {
  const { samples, driver, agentImage = 'agent:1' } = options;
  const handler = engine.handler(agentImage);
  const { backup } = handler;
  if (backup !== undefined && driver === undefined) {
    throw new Error(`${handler.name} has backups: its driver is missing in the options`);
  }
  const ofBackups = backup === undefined || driver === undefined ? [] : backupChecks(backup, driver);
  return [
    ...[...kindChecks, ...(samples.length === 0 ? [] : permissionChecks)].map(({ name, problems }) =>
      checkOf(`${handler.name}: ${name}`, () => problems(handler, samples)),
    ),
    ...samples.flatMap((sample) =>
      [...resourceChecks, ...volumeChecks, ...assessmentChecks, ...ofBackups].map(({ name, problems }) =>
        checkOf(`${sample.story}: ${name}`, () => problems(handler, sample)),
      ),
    ),
  ];
}

function checkOf(name: string, find: () => Problems | Promise<Problems>): ConformanceCheck {
  return {
    name,
    async run() {
      const problems = await find();
      if (problems.length > 0) throw new Error(`${name}: this does not hold:\n- ${problems.join('\n- ')}`);
    },
  };
}
