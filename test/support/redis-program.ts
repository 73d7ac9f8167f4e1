/**
 * The redis-server programs of the sandbox's images, for tests that run several versions: unpacked from the layers in the
 * cache, once, and started by the loader that came with them. Versions whose image was never made are left out.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpackedImage } from './image-layer.ts';

/** Command and first arguments of a server; its configuration file follows. */
export type RedisProgram = readonly [string, ...string[]];

const libraries = [
  'usr/lib/x86_64-linux-gnu',
  'lib/x86_64-linux-gnu',
  'usr/lib/aarch64-linux-gnu',
  'lib/aarch64-linux-gnu',
];
const loaders = ['lib64/ld-linux-x86-64.so.2', 'usr/lib64/ld-linux-x86-64.so.2', 'lib/ld-linux-aarch64.so.1'];

function programOf(version: string): RedisProgram | undefined {
  const root = unpackedImage(`redis:${version}`);
  const loader = loaders.map((name) => join(root ?? '', name)).find((path) => root !== undefined && existsSync(path));
  if (root === undefined || loader === undefined) return undefined;
  const path = libraries.map((name) => join(root, name)).join(':');
  return [loader, '--library-path', path, join(root, 'usr/bin/redis-server')];
}

/** By version: `7.0`, `8.0`. */
export const redisPrograms: ReadonlyMap<string, RedisProgram> = new Map(
  ['7.0', '8.0'].flatMap((version): [string, RedisProgram][] => {
    const program = programOf(version);
    return program === undefined ? [] : [[version, program]];
  }),
);
