/** Where documents come from: a file, a folder of files, or standard input. */
import { extname, join } from 'node:path';
import { type CliContext, standardInput } from './cli-context.ts';
import { allOrFaults } from './clusters.ts';
import { badInput } from './fault.ts';
import { type ManifestDocument, parseManifest } from './manifest.ts';

export type Files = Pick<CliContext, 'readText' | 'readFolder' | 'readStdin'>;

/** What kubectl reads of a folder. */
const extensions: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/**
 * Reads a file, the manifests of a folder, or standard input for `-`. As with kubectl, a folder in the folder is left out.
 *
 * @throws BadInput on what cannot be read, or is not YAML
 */
export async function readDocuments(path: string, files: Files): Promise<ManifestDocument[]> {
  if (path === '-' || path === standardInput) return parseManifest(standardInput, await files.readStdin());
  const text = await fileText(path, files);
  return text === undefined ? await folderDocuments(path, files) : parseManifest(path, text);
}

async function folderDocuments(folder: string, files: Files): Promise<ManifestDocument[]> {
  const names = (await files.readFolder(folder)).filter((name) => extensions.has(extname(name))).sort();
  const documents = await allOrFaults(names, async (name) => {
    const path = join(folder, name);
    const text = (await fileText(path, files)) ?? '';
    // cdk8s writes an empty file for a chart without objects.
    return text.trim() === '' ? [] : parseManifest(path, text);
  });
  const found = documents.flat();
  if (found.length === 0) {
    throw badInput(folder, `no file in it is a manifest (${[...extensions].join(', ')}); folders in it are not read`);
  }
  return found;
}

/** Undefined for a folder. */
async function fileText(path: string, files: Files): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (cause) {
    if (codeOf(cause) === 'EISDIR') return undefined;
    throw badInput(path, unreadable(cause), { cause });
  }
}

function unreadable(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EACCES':
      return 'may not be read';
    default:
      return `cannot be read: ${(error as Error).message}`;
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
