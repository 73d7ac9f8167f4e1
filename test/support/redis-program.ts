/**
 * The server programs of the sandbox's images, for tests that run several engines and versions: unpacked from the layers in
 * the cache, once, and started by the loader that came with them. Those whose image was never made are left out.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { releases, type Server, type ServerEngine } from '../../src/engines/redis/kind/server.ts';
import { unpackedImage } from './image-layer.ts';
import { installedVersion } from './redis-server.ts';

/** Command and first arguments of a server; its configuration file follows. */
export type RedisProgram = readonly [string, ...string[]];

export interface ServerProgram extends Server {
  /** `Valkey 8.1` */
  readonly name: string;
  readonly server: RedisProgram;
  readonly cli: RedisProgram;
}

const libraries = [
  'usr/lib/x86_64-linux-gnu',
  'lib/x86_64-linux-gnu',
  'usr/lib/aarch64-linux-gnu',
  'lib/aarch64-linux-gnu',
];
const loaders = ['lib64/ld-linux-x86-64.so.2', 'usr/lib64/ld-linux-x86-64.so.2', 'lib/ld-linux-aarch64.so.1'];

function programOf(engine: ServerEngine, version: string): ServerProgram | undefined {
  const { program } = releases[engine];
  const root = unpackedImage(`${program}:${version}`);
  const loader = loaders.map((name) => join(root ?? '', name)).find((path) => root !== undefined && existsSync(path));
  if (root === undefined || loader === undefined) return undefined;
  const path = libraries.map((name) => join(root, name)).join(':');
  const command = (name: string): RedisProgram => [loader, '--library-path', path, join(root, 'usr/bin', name)];
  const [server, cli] = [command(`${program}-server`), command(`${program}-cli`)];
  return { engine, version, name: `${engine} ${version}`, server, cli };
}

const images = [
  ['Redis', '7.0'],
  ['Redis', '8.0'],
  ['Valkey', '8.1'],
  ['Valkey', '9.1'],
] as const;

const unpacked: readonly ServerProgram[] = images.flatMap(([engine, version]) => programOf(engine, version) ?? []);

/** Not by its name: tests put folders before it in the PATH, with a program of this name that starts it. */
function installedPath(name: string): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? name;
}

const installed: readonly ServerProgram[] =
  installedVersion === undefined
    ? []
    : [
        {
          engine: 'Redis',
          version: installedVersion,
          name: `Redis ${installedVersion}`,
          server: [installedPath('redis-server')],
          cli: [installedPath('redis-cli')],
        },
      ];

const all: readonly ServerProgram[] = [
  ...installed.filter(({ name }) => !unpacked.some((each) => each.name === name)),
  ...unpacked,
];

/** Also for tests that take minutes and hold nothing that others do not hold in part: `npm run test:all` plays them. */
export const isEveryVersionWanted = process.env.CLUSTERWRIGHT_ALL_VERSIONS !== undefined;

/**
 * Those of the images, and the one that is installed where there is no image of its version. The newest of each engine, unless
 * `CLUSTERWRIGHT_ALL_VERSIONS` asks for all.
 */
export const serverPrograms: readonly ServerProgram[] = all.filter(
  ({ engine }, i) => isEveryVersionWanted || !all.slice(i + 1).some((later) => later.engine === engine),
);

/** For tests that take minutes: `npm test` runs them with one server, `npm run test:all` with all. */
export const essentialServers: readonly ServerProgram[] = isEveryVersionWanted
  ? serverPrograms
  : serverPrograms.filter(({ engine }) => engine === 'Redis');

export function serverProgram(name: string): ServerProgram | undefined {
  return all.find((each) => each.name === name);
}

/** Redis by version: `7.0`, `8.0`. */
export const redisPrograms: ReadonlyMap<string, RedisProgram> = new Map(
  unpacked.flatMap(({ engine, version, server }) => (engine === 'Redis' ? [[version, server] as const] : [])),
);

/** A folder for the PATH, with the programs under the names that a pod of this engine has: one for each of these, for all tests. */
export function programFolder({ engine, name, server, cli }: ServerProgram): string {
  const folder = join(tmpdir(), `server-programs-${name.replace(' ', '-')}`);
  mkdirSync(folder, { recursive: true });
  for (const [what, command] of Object.entries({ server, cli })) {
    const path = join(folder, `${releases[engine].program}-${what}`);
    const own = `${path}-${process.pid}`;
    writeFileSync(own, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`, { mode: 0o755 });
    // Another test may run it just now.
    renameSync(own, path);
  }
  return folder;
}
