/** Manifests as text: YAML or JSON, any number of documents, every field still knowing where it stands. */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  parseAllDocuments,
} from 'yaml';
import type { Path } from '../api/violation.ts';
import { BadInput, badInput } from './fault.ts';
import { kubectlYaml } from './yaml.ts';

export interface Position {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

export interface ManifestDocument {
  readonly source: string;
  readonly value: unknown;
  /** Where a field stands, or the innermost field above it that is there. Empty for an object that is no text. */
  locate(path: Path): Partial<Position>;
}

/** More aliases than any manifest has; a file made of aliases of aliases would not fit into memory. */
const maxAliases = 1000;

/**
 * The documents that hold something. The items of a `List` are documents of their own.
 *
 * @throws BadInput on anything that is not YAML, and where there is no document at all
 */
export function parseManifest(source: string, text: string): ManifestDocument[] {
  const lines = new LineCounter();
  const parsed = parseAllDocuments<ParsedNode>(text, { ...kubectlYaml, lineCounter: lines, prettyErrors: false });
  const documents = 'empty' in parsed ? [] : parsed;
  // One error a document: those after it are mostly its own consequences.
  const errors = documents.flatMap((document) => document.errors.slice(0, 1));
  if (errors.length > 0) {
    throw new BadInput(
      errors.map(({ message, pos }) => ({ source, ...positionAt(lines, pos[0]), message: `not YAML: ${message}` })),
    );
  }
  const found = documents.flatMap((document): ManifestDocument[] => {
    const root = document.contents;
    if (root === null || (isScalar(root) && root.value === null)) return [];
    const locate = (path: Path): Position =>
      positionAt(
        lines,
        offsetOf(root, path, (alias) => resolveAlias(alias, document)),
      );
    let value: unknown;
    try {
      value = document.toJS({ maxAliasCount: maxAliases });
    } catch (cause) {
      throw new BadInput([{ source, ...locate([]), message: `not YAML: ${(cause as Error).message}` }], { cause });
    }
    return expandList({ source, value, locate });
  });
  if (found.length === 0) throw badInput(source, 'there is nothing in it');
  return found;
}

function resolveAlias(alias: Node, document: { readonly contents: unknown }): Node | undefined {
  return isAlias(alias) ? alias.resolve(document as Parameters<typeof alias.resolve>[0]) : alias;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function offsetOf(root: Node, path: Path, resolved: (node: Node) => Node | undefined): number {
  let offset = root.range?.[0] ?? 0;
  let at: Node | undefined = root;
  for (const step of path) {
    const node: Node | undefined = at === undefined ? undefined : resolved(at);
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      offset = (isNode(pair.key) ? pair.key.range?.[0] : undefined) ?? offset;
      at = isNode(pair.value) ? pair.value : undefined;
    } else if (isSeq(node) && typeof step === 'number') {
      const item = node.items[step];
      if (!isNode(item)) break;
      offset = item.range?.[0] ?? offset;
      at = item;
    } else break;
  }
  return offset;
}

/** What `kubectl get -o yaml` prints for several objects. */
function expandList(document: ManifestDocument): ManifestDocument[] {
  const { source, value, locate } = document;
  const list = value as { readonly apiVersion?: unknown; readonly kind?: unknown; readonly items?: unknown };
  if (list.apiVersion !== 'v1' || list.kind !== 'List' || !Array.isArray(list.items)) return [document];
  return list.items.map((item, index) => ({
    source,
    value: item,
    locate: (path) => locate(['items', index, ...path]),
  }));
}

/** The parts of a path as it is displayed: `spec.tolerations[0].key`, `metadata.labels[example.com/team]`. */
export function parsePath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(([, index, key, name]) =>
    index === undefined ? (key ?? name ?? '') : Number(index),
  );
}
