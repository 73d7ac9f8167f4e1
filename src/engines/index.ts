/** The only list of engines: the databases, and what is done with them. */
import { defaultAgentImage } from './agent-pod.ts';
import { backupEngine } from './backup/index.ts';
import type { RegisteredEngine } from './engine.ts';
import { etcd } from './etcd/index.ts';
import { withLastBackup } from './last-backup.ts';
import { redis } from './redis/index.ts';
import { registered } from './registered.ts';
import { withRestore } from './restore.ts';
import { scheduleEngine } from './schedule/index.ts';

/** `agentImage` is what Jobs run: the operator's own image. */
export function enginesWith(agentImage: string): readonly RegisteredEngine[] {
  const databases = [registered(redis, agentImage), registered(etcd, agentImage)].map((engine) =>
    withLastBackup(withRestore(engine, agentImage), agentImage),
  );
  return [...databases, backupEngine(databases, agentImage), scheduleEngine(databases, agentImage)];
}

export const engines: readonly RegisteredEngine[] = enginesWith(defaultAgentImage);
