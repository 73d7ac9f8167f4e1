/** From the engines that a program is given to every kind that it serves: theirs, and the kinds of their backups. */

import { schemaViolations } from '../api/check.ts';
import { inRegistry } from '../api/image.ts';
import { engineNameSchema } from '../backup/engine-data.ts';
import type { Definition } from '../engine/definition.ts';
import type { Engine, KindHandler } from '../engine/engine.ts';
import type { EngineAction } from '../plan/plan.ts';
import { defaultAgentImage } from './agent-pod.ts';
import { withArchive } from './archive/index.ts';
import { backupEngine } from './backup/index.ts';
import { type Installation, withInstallation } from './installation.ts';
import { withLastBackup } from './last-backup.ts';
import { withRestore } from './restore.ts';
import { scheduleEngine } from './schedule/index.ts';
import { toHandler } from './to-handler.ts';

/** In tasks of backups, and the value of a label. */
const isEngineName = (name: string): boolean =>
  schemaViolations(engineNameSchema, name).length === 0 && !name.endsWith('-');

/** An engine with its own types hidden, so that engines of different types fit one list. */
export interface DefinedEngine {
  readonly definition: Definition;
  /** `agentImage` is what Jobs run: the operator's own image. */
  handler(agentImage: string): KindHandler;
  /** Kinds for what is inside its clusters. */
  readonly contents?: readonly KindHandler[];
}

export function defineEngine<Spec, Observed, Situation, Action extends EngineAction>(
  engine: Engine<Spec, Observed, Situation, Action>,
  contents: readonly KindHandler[] = [],
): DefinedEngine {
  return {
    definition: engine.definition,
    contents,
    handler: (agentImage) =>
      withLastBackup(withRestore(withArchive(toHandler(engine, agentImage), agentImage), agentImage), agentImage),
  };
}

/**
 * `namedAgentImage`: default that of a release of this version.
 *
 * @throws where two kinds could not be told apart
 */
export function handlersOf(
  engines: readonly DefinedEngine[],
  namedAgentImage?: string,
  installation: Installation = {},
): readonly KindHandler[] {
  const agentImage = namedAgentImage ?? inRegistry(defaultAgentImage, installation.imageRegistry);
  const databases = engines.map((engine) => withInstallation(engine.handler(agentImage), installation));
  const kept = databases.filter(({ backup }) => backup !== undefined);
  const ofBackups = kept.length === 0 ? [] : [backupEngine(kept, agentImage), scheduleEngine(kept, agentImage)];
  const contents = engines.flatMap((engine) => engine.contents ?? []);
  const handlers = [...databases, ...contents, ...ofBackups];
  checkDistinct(handlers);
  return handlers;
}

/** Objects are found by the name of their engine, volumes that are deleted with the data included. */
function checkDistinct(handlers: readonly KindHandler[]): void {
  const repeated = (values: readonly string[]): string | undefined =>
    values.find((value, at) => values.indexOf(value) !== at);
  const names = handlers.map(({ name }) => name);
  const wrong = names.find((name) => !isEngineName(name));
  if (wrong !== undefined) {
    const { pattern, maxLength } = engineNameSchema;
    throw new Error(
      `the name of an engine, ${wrong}, does not match ${pattern}, ends with "-" or has more than ${maxLength} characters`,
    );
  }
  const name = repeated(names);
  if (name !== undefined) throw new Error(`two engines have the name ${name}: each would take objects of the other`);
  const kind = repeated(handlers.map((handler) => handler.kind.resource.kind));
  if (kind !== undefined) throw new Error(`two engines have the kind ${kind}`);
}
