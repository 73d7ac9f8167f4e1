/**
 * Puts images into the nodes' containerds, all nodes at once.
 *
 * An image that a node has is left alone, and of one that it has in part only the missing blobs are sent: after a
 * rebuild of the operator that is its bundle, not its base.
 */

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { run } from '../command.ts';
import { codeOf, SandboxError } from '../error.ts';
import { isThere } from '../file.ts';
import type { NodeLayout } from '../layout.ts';
import { readTarIndex, type TarPosition, tarEnd, tarHeader, tarPadding } from './tar.ts';

export type LoadOutcome = 'loaded' | 'present';

interface Index {
  readonly manifests: readonly { readonly digest: string; readonly annotations?: Readonly<Record<string, string>> }[];
}

/** Loads an archive into one node. */
export async function loadArchive(node: NodeLayout, archive: string): Promise<LoadOutcome> {
  const entries = await readArchive(archive);
  const index = await readIndex(archive, entries);
  if (index === undefined) {
    // Not an OCI layout: containerd reads older archives too, but only as a whole.
    await containerd(node, ['import', archive]);
    return 'loaded';
  }
  const held = parseImageList(await containerd(node, ['ls']));
  const same =
    index.manifests.length > 0 &&
    index.manifests.every(({ digest, annotations }) => {
      const name = annotations?.['io.containerd.image.name'];
      return name !== undefined && held.get(name) === digest;
    });
  if (same) return 'present';
  const input = Readable.from(parts(archive, await missingEntries(node, entries)));
  await containerd(node, ['import', '-'], input);
  return 'loaded';
}

function containerd(node: NodeLayout, args: readonly string[], input?: Readable): Promise<string> {
  const options = input === undefined ? {} : { input };
  return run('ctr', ['-a', node.socket, '-n', 'k8s.io', 'images', ...args], options);
}

async function readArchive(path: string): Promise<ReadonlyMap<string, TarPosition>> {
  try {
    return await readTarIndex(path);
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    throw new SandboxError(`there is no image archive ${path}`, { cause });
  }
}

/** The image index of an OCI layout, or undefined where the archive is none. */
async function readIndex(archive: string, entries: ReadonlyMap<string, TarPosition>): Promise<Index | undefined> {
  const position = entries.get('index.json');
  if (position === undefined || !entries.has('oci-layout')) return undefined;
  const file = await open(archive);
  try {
    const buffer = Buffer.alloc(position.size);
    await file.read(buffer, 0, position.size, position.offset);
    return JSON.parse(buffer.toString('utf8')) as Index;
  } finally {
    await file.close();
  }
}

/** Digest by reference, from what `ctr images ls` prints. */
export function parseImageList(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').slice(1);
  return new Map(
    lines.flatMap((line) => {
      const [reference, , digest] = line.split(/\s+/);
      return reference && digest ? [[reference, digest] as const] : [];
    }),
  );
}

/** Without the blobs that the node has. */
async function missingEntries(
  node: NodeLayout,
  entries: ReadonlyMap<string, TarPosition>,
): Promise<ReadonlyMap<string, TarPosition>> {
  const store = join(node.data, 'containerd', 'io.containerd.content.v1.content');
  const checked = [...entries].map(async ([name, position]) => {
    const large = name.startsWith('blobs/') && position.size > 1 << 16;
    const held = large && (await isThere(join(store, 'blobs', 'sha256', basename(name))));
    return held ? [] : [[name, position] as const];
  });
  return new Map((await Promise.all(checked)).flat());
}

async function* parts(archive: string, entries: ReadonlyMap<string, TarPosition>): AsyncGenerator<Buffer> {
  for (const [name, { offset, size }] of entries) {
    yield tarHeader({ name, type: 'file', mode: 0o644, size });
    if (size > 0) yield* createReadStream(archive, { start: offset, end: offset + size - 1, highWaterMark: 1 << 20 });
    yield tarPadding(size);
  }
  yield tarEnd;
}
