/**
 * How an image is made: a value, made of layers that are values. The cache knows an image by the hash of its recipe,
 * so a changed recipe is a new image and an unchanged one is never made twice.
 *
 * A new image is a new value in `recipes`; a new way to make a layer is a new member of the union and one builder.
 */
import { createHash } from 'node:crypto';
import type { Binary } from '../binaries.ts';
import type { ImageConfig } from './archive.ts';

export type LayerRecipe =
  /** Debian packages unpacked, without documents and without their scripts run, and a busybox shell. */
  | {
      readonly kind: 'debian';
      readonly suite: 'bookworm' | 'trixie' | 'forky';
      readonly packages: readonly string[];
      /** Perl, half of some images, is often there for installation scripts alone. */
      readonly without?: 'perl';
      /** Removed as well: paths without a leading slash, where `*` stands for a part of a name. */
      readonly removed?: readonly string[];
      /** Nothing but these paths is kept, for a layer on top of another Debian release. */
      readonly only?: readonly string[];
      /** Compiles Python's modules: on a read-only root file system every start would compile them again. */
      readonly python?: 'compiled';
    }
  /** One program out of an npm package. `ARCH` in the package's name stands for npm's name of the architecture. */
  | {
      readonly kind: 'npm';
      readonly package: string;
      readonly version: string;
      readonly file: string;
      readonly to: string;
    }
  /** A program that the sandbox compiles; `version` is that of its source, so that a new one is a new layer. */
  | { readonly kind: 'program'; readonly program: Binary; readonly version: string; readonly to: string }
  /** This machine's static busybox and links to it. */
  | { readonly kind: 'busybox'; readonly links: readonly string[] }
  /** Files whose contents are at hand. */
  | { readonly kind: 'files'; readonly files: readonly RecipeFile[] };

export interface RecipeFile {
  /** From the root, with a leading slash. */
  readonly path: string;
  readonly mode: number;
  readonly content: string;
}

export interface ImageRecipe {
  /** `name:tag`, as commands take it. Pods name it {@link imageReference}. */
  readonly name: string;
  /** Public images that it stands in for, by full reference: pods that name one of them get this. */
  readonly standsInFor?: readonly string[];
  readonly layers: readonly LayerRecipe[];
  readonly config: ImageConfig;
}

/** What a pod writes in `image`, with `imagePullPolicy: IfNotPresent`. */
export function imageReference(name: string): string {
  return `localhost/${name}`;
}

/** Changes when the code that makes layers makes them otherwise. */
const builderVersion = 1;

/** 16 hexadecimal digits that stand for the content of a recipe or a layer. */
export function recipeKey(recipe: ImageRecipe | LayerRecipe): string {
  const text = JSON.stringify([builderVersion, process.arch, recipe]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
