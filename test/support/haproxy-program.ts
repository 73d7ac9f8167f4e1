/** HAProxy, for tests that run it: of the sandbox's image where that was made, and the one that is installed. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackedImage } from './image-layer.ts';

export interface HaproxyProgram {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

const places = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].flatMap((machine) => [`usr/lib/${machine}`, `lib/${machine}`]);
const loaders = ['lib64/ld-linux-x86-64.so.2', 'usr/lib64/ld-linux-x86-64.so.2', 'lib/ld-linux-aarch64.so.1'];

function ofImage(name: string): HaproxyProgram[] {
  const root = unpackedImage(name);
  const loader = loaders.map((path) => join(root ?? '', path)).find((path) => root !== undefined && existsSync(path));
  if (root === undefined || loader === undefined) return [];
  const path = places.map((place) => join(root, place)).join(':');
  return [{ name, command: [loader, '--library-path', path, join(root, 'usr/sbin/haproxy')] }];
}

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
const installed = folders.map((folder) => join(folder, 'haproxy')).find((path) => existsSync(path));

/** Each of these reads what we write. Empty elsewhere than on Linux, whose loopback has more than one address. */
export const haproxyPrograms: readonly HaproxyProgram[] =
  process.platform === 'linux'
    ? [
        ...ofImage('haproxy:3.0'),
        ...(installed === undefined ? [] : [{ name: 'installed', command: [installed] as const }]),
      ]
    : [];
