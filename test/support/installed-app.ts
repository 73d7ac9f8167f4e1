/** Apps of somebody else, whose packages npm installs from the registry: this package as it is published, and others of any version. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Packed, runIn } from './packed-package.ts';

/** Path of the tarball. What is packed is what was compiled last. */
export function packInto(directory: string): string {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory];
  const [packed] = JSON.parse(runIn(process.cwd(), 'npm', words)) as Packed[];
  if (packed === undefined) throw new Error('npm pack made nothing');
  return join(directory, packed.filename);
}

/** `packages`: as `npm install` takes them, beside what the `package.json` of the folder names. */
export function install(folder: string, packages: readonly string[]): void {
  runIn(folder, 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...packages]);
}

/** A new folder with a `package.json` that names nothing. */
export function emptyApp(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true }));
}

/** The package's own peer dependencies: names to ranges. */
export function peers(): Readonly<Record<string, string>> {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { peerDependencies: Record<string, string> })
    .peerDependencies;
}

/** The words of a program that fails are in the error. */
export function run(folder: string, command: string, ...words: readonly string[]): string {
  return execFileSync(command, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
