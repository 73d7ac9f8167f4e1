/**
 * How an image is made: a value, made of layers that are values. The sandbox knows an image by the hash of its recipe, so
 * a changed recipe is a new image and an unchanged one is never made twice.
 *
 * A new image is a new value; a new way to make a layer is a new member of the union and one builder in the sandbox.
 */

/** What runs when a pod names no command, and as whom. */
export interface ImageConfig {
  readonly entrypoint?: readonly string[];
  readonly env?: readonly string[];
  /** `uid` or `uid:gid`. */
  readonly user?: string;
}

/** A Go module at a version; programs of one module are compiled in one module context. */
export interface GoModule {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** A `main.go` that is compiled in place of the module's own, with only what is used of the module. */
  readonly main?: string;
}

/** A program that the sandbox compiles. */
export interface GoProgram {
  /** Of the file. */
  readonly name: string;
  /** The Go package with its `main`. */
  readonly package: string;
  readonly source: GoModule;
}

export type LayerRecipe =
  /** Debian packages unpacked, without documents and without their scripts run, and a busybox shell. */
  | {
      readonly kind: 'debian';
      readonly suite: 'bookworm' | 'trixie' | 'forky';
      readonly packages: readonly string[];
      /** Perl, half of some images, is often there for installation scripts alone. */
      readonly without?: 'perl';
    }
  /** One program out of an npm package. `ARCH` in the package's name stands for npm's name of the architecture. */
  | {
      readonly kind: 'npm';
      readonly package: string;
      readonly version: string;
      readonly file: string;
      readonly to: string;
    }
  | { readonly kind: 'program'; readonly program: GoProgram; readonly to: string }
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
  /** `name:tag`, as commands take it. Pods name it `localhost/name:tag`. */
  readonly name: string;
  /** Public images that it stands in for, by full reference: pods that name one of them get this. */
  readonly standsInFor?: readonly string[];
  readonly layers: readonly LayerRecipe[];
  readonly config: ImageConfig;
}
