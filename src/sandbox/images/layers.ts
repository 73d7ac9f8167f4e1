/**
 * Makes layers, each once: a layer lives in the cache under the key of its recipe, with its digest beside it.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LayerRecipe } from '../../engine/image-recipe.ts';
import { binaryPath } from '../binaries.ts';
import { run } from '../command.ts';
import { readIfThere } from '../file.ts';
import type { Layout } from '../layout.ts';
import { architecture } from '../machine.ts';
import { inWorkspace } from '../workspace.ts';
import { type Layer, measureLayer } from './archive.ts';
import { debianRoot } from './debian.ts';
import { recipeKey } from './recipe.ts';
import { type TarEntry, tarEnd, tarFile, tarHeader, tarPadding } from './tar.ts';

/** The layer of a recipe, from the cache or made now. */
export async function buildLayer(
  layout: Layout,
  recipe: LayerRecipe,
  report: (detail: string) => void,
): Promise<Layer> {
  const directory = join(layout.cache, 'layers');
  const target = join(directory, `${recipeKey(recipe)}.tar`);
  const known = await readDigest(target);
  if (known !== undefined) return known;
  return await inWorkspace(directory, async (temporary) => {
    const file = join(temporary, 'layer.tar');
    await writeLayer(layout, recipe, file, temporary, report);
    const layer = { ...(await measureLayer(file)), path: target };
    await rename(file, target);
    // Last of all: a layer without its digest does not count.
    await writeFile(join(temporary, 'digest'), JSON.stringify(layer));
    await rename(join(temporary, 'digest'), `${target}.json`);
    return layer;
  });
}

/** Forgets a layer. */
export async function removeLayer(layer: Layer): Promise<void> {
  await rm(`${layer.path}.json`, { force: true });
  await rm(layer.path, { force: true });
}

async function readDigest(target: string): Promise<Layer | undefined> {
  const text = await readIfThere(`${target}.json`);
  return text === undefined ? undefined : { ...(JSON.parse(text) as Layer), path: target };
}

async function writeLayer(
  layout: Layout,
  recipe: LayerRecipe,
  file: string,
  temporary: string,
  report: (detail: string) => void,
): Promise<void> {
  switch (recipe.kind) {
    case 'debian': {
      const root = join(temporary, 'root');
      await debianRoot(root, recipe, report);
      report('packing');
      // GNU tar: hard links, devices and long names are its business.
      const order = ['--sort=name', '--mtime=@0', '--numeric-owner', '--format=gnu'];
      await run('tar', ['-C', root, ...order, '-cf', file, '.']);
      return;
    }
    case 'npm': {
      const name = recipe.package.replace('ARCH', architecture().npm);
      report(`npm ${name} ${recipe.version}`);
      const packed = await run('npm', ['pack', '--silent', `${name}@${recipe.version}`], { cwd: temporary });
      const archive = packed.trim().split('\n').at(-1) ?? '';
      await run('tar', ['-xzf', archive, `package/${recipe.file}`], { cwd: temporary });
      const content = await readFile(join(temporary, 'package', recipe.file));
      await writeFile(file, filesLayer([{ path: recipe.to, mode: 0o755, content }]));
      return;
    }
    case 'program': {
      const content = await readFile(binaryPath(layout, recipe.program));
      await writeFile(file, filesLayer([{ path: recipe.to, mode: 0o755, content }]));
      return;
    }
    case 'busybox': {
      const content = await readFile('/bin/busybox');
      const links = recipe.links.map((link) => ({ path: `/bin/${link}`, target: 'busybox' }));
      await writeFile(file, filesLayer([{ path: '/bin/busybox', mode: 0o755, content }], links));
      return;
    }
    case 'files':
      await writeFile(file, filesLayer(recipe.files));
      return;
  }
}

interface LayerFile {
  /** From the root, with a leading slash. */
  readonly path: string;
  readonly mode: number;
  readonly content: Buffer | string;
}

interface LayerLink {
  readonly path: string;
  readonly target: string;
}

/** A layer of files, links and the directories above them, in a fixed order. */
export function filesLayer(files: readonly LayerFile[], links: readonly LayerLink[] = []): Buffer {
  const entries = new Map<string, Buffer>();
  const add = (entry: Omit<TarEntry, 'size'>): Map<string, Buffer> =>
    entries.set(entry.name, tarHeader({ ...entry, size: 0 }));
  for (const { path } of [...files, ...links]) {
    const parts = path.split('/').slice(1, -1);
    parts.forEach((_, depth) => {
      add({ name: `${parts.slice(0, depth + 1).join('/')}/`, type: 'directory', mode: 0o755 });
    });
  }
  for (const { path, mode, content } of files) entries.set(path.slice(1), tarFile(path.slice(1), content, mode));
  for (const { path, target } of links) add({ name: path.slice(1), type: 'symlink', mode: 0o777, target });
  const order = [...entries.keys()].toSorted((one, other) => (one < other ? -1 : 1));
  return Buffer.concat([...order.map((name) => entries.get(name) ?? tarPadding(0)), tarEnd]);
}
