/** From the engines that a program is given to every kind that it serves: theirs, and the kinds of their backups. */

import type { Definition } from '../engine/definition.ts';
import type { Engine, KindHandler } from '../engine/engine.ts';
import type { EngineAction } from '../plan/plan.ts';
import { defaultAgentImage } from './agent-pod.ts';
import { backupEngine } from './backup/index.ts';
import { withLastBackup } from './last-backup.ts';
import { withRestore } from './restore.ts';
import { scheduleEngine } from './schedule/index.ts';
import { toHandler } from './to-handler.ts';

/** An engine with its own types hidden, so that engines of different types fit one list. */
export interface DefinedEngine {
  readonly definition: Definition;
  /** `agentImage` is what Jobs run: the operator's own image. */
  handler(agentImage: string): KindHandler;
}

export function defineEngine<Spec, Observed, Situation, Action extends EngineAction>(
  engine: Engine<Spec, Observed, Situation, Action>,
): DefinedEngine {
  return {
    definition: engine.definition,
    handler: (agentImage) => withLastBackup(withRestore(toHandler(engine, agentImage), agentImage), agentImage),
  };
}

/** `agentImage`: default that of a release of this version. */
export function handlersOf(
  engines: readonly DefinedEngine[],
  agentImage: string = defaultAgentImage,
): readonly KindHandler[] {
  const databases = engines.map((engine) => engine.handler(agentImage));
  const kept = databases.filter(({ backup }) => backup !== undefined);
  return kept.length === 0
    ? databases
    : [...databases, backupEngine(kept, agentImage), scheduleEngine(kept, agentImage)];
}
