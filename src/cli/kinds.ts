/** The names that people use for our kinds on a command line, as they do with kubectl. */
import { backupKind } from '../api/backup.ts';
import { scheduleKind } from '../api/backup-schedule.ts';
import type { KindHandler } from '../engine/engine.ts';

export interface ClusterRef {
  readonly engine: KindHandler;
  readonly name: string;
}

/** `rediscluster`, `redisclusters`, `rdc`, and each with the group behind it; in any case. */
export function namesOf({ kind: { resource, singular, shortNames } }: KindHandler): string[] {
  const names = [singular, resource.plural, ...shortNames].map((name) => name.toLowerCase());
  return [...names, ...names.map((name) => `${name}.${resource.group}`)];
}

/** What stands before a name in tables. Other operators have a kind `Backup`, too: the short name is the one that kubectl takes for ours. */
export function kindWord(kind: string): string {
  const ofBackups = [backupKind, scheduleKind].find(({ resource }) => resource.kind === kind);
  return ofBackups?.shortNames[0] ?? kind.toLowerCase();
}

export function engineNamed(engines: readonly KindHandler[], name: string): KindHandler | undefined {
  return engines.find((engine) => namesOf(engine).includes(name.toLowerCase()));
}

/** `KIND/NAME` of one of our kinds. Undefined for anything else: a path, for instance, as no name of ours has a dot. */
export function parseClusterRef(engines: readonly KindHandler[], text: string): ClusterRef | undefined {
  const [kind = '', name = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) return undefined;
  const engine = engineNamed(engines, kind);
  return engine === undefined ? undefined : { engine, name };
}
