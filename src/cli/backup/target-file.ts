/**
 * A target that is named by a file or a directory: a manifest of anything that has one, the target alone, or the place
 * where a claim is mounted.
 */
import { resolve } from 'node:path';
import { type BackupEncryption, type BackupTarget, targetSchema } from '../../api/backup-target.ts';
import { celViolations } from '../../api/cel.ts';
import { schemaViolations, withDefaults } from '../../api/check.ts';
import { prune } from '../../api/prune.ts';
import { displayPath } from '../../api/violation.ts';
import type { CliContext } from '../cli-context.ts';
import { BadInput } from '../fault.ts';
import type { ManifestDocument } from '../manifest.ts';
import { readDocuments } from '../manifest-files.ts';

export type NamedTarget =
  | {
      readonly type: 's3';
      /** As it is written, for what is to be pasted. */
      readonly written: object;
      readonly s3: NonNullable<BackupTarget['s3']>;
      readonly encryption?: BackupEncryption;
    }
  | { readonly type: 'directory'; readonly directory: string };

/** @throws BadInput where there is no target in the file, or it is not valid */
export async function readTarget(path: string, cli: CliContext): Promise<NamedTarget> {
  if (await isDirectory(path, cli)) return { type: 'directory', directory: resolve(path) };
  const documents = await readDocuments(path, cli);
  const [found] = documents.flatMap(placesIn);
  if (found === undefined) {
    throw fault(
      path,
      'names no target: what is wanted is s3, target, spec.target, spec.backup or spec.bootstrap.restore',
    );
  }
  const { s3 } = checked(path, found.target);
  if (s3 === undefined) {
    throw fault(
      path,
      'its target is a claim: mount it, and name the directory that its path is in instead of this file',
    );
  }
  const { encryption, target } = found;
  return { type: 's3', written: target, s3, ...(encryption === undefined ? {} : { encryption }) };
}

async function isDirectory(path: string, { readText }: CliContext): Promise<boolean> {
  if (path === '-') return false;
  try {
    await readText(path);
    return false;
  } catch (error) {
    return (error as { readonly code?: unknown }).code === 'EISDIR';
  }
}

interface Found {
  readonly target: object;
  readonly encryption?: BackupEncryption;
}

/** Wherever one of our kinds has a target, and a target by itself. */
function placesIn({ value }: ManifestDocument): Found[] {
  const at = (of: unknown, ...path: readonly string[]): unknown =>
    path.reduce<unknown>((inner, key) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[key], of);
  const places = [value, at(value, 'spec'), at(value, 'spec', 'backup'), at(value, 'spec', 'bootstrap', 'restore')];
  const named = places.flatMap((place): Found[] => {
    const target = at(place, 'target');
    const secret = at(place, 'encryption', 'secret');
    if (typeof target !== 'object' || target === null) return [];
    return [{ target, ...(typeof secret === 'string' ? { encryption: { secret } } : {}) }];
  });
  const isTarget = at(value, 's3') !== undefined || at(value, 'claim') !== undefined;
  return isTarget ? [{ target: value as object }, ...named] : named;
}

function checked(path: string, target: object): BackupTarget {
  const unknown = prune(targetSchema, target).unknown.map((field) => `${displayPath(field)}: unknown field`);
  const faults = schemaViolations(targetSchema, target).map((found) => `${displayPath(found.path)}: ${found.message}`);
  const rules = faults.length > 0 ? [] : celViolations(targetSchema, target).map(({ message }) => message);
  const said = [...unknown, ...faults, ...rules];
  if (said.length > 0) throw new BadInput(said.map((message) => ({ source: path, path: 'target', message })));
  return withDefaults(targetSchema, target) as BackupTarget;
}

function fault(source: string, message: string): BadInput {
  return new BadInput([{ source, message }]);
}
