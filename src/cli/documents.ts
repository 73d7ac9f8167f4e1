/** Kubernetes objects on standard output: YAML documents, or JSON (a `List` where there are several). */
import type { KubeObject } from '../api/object.ts';
import { yamlText } from './yaml.ts';

export type Format = 'yaml' | 'json';

export interface Printed {
  readonly object: KubeObject;
  /** A line of comment above it, in YAML only. */
  readonly comment?: string;
}

export function documentsText(printed: readonly Printed[], format: Format): string {
  if (format === 'yaml') {
    return printed
      .map(({ object, comment }) => `${comment === undefined ? '' : `# ${comment}\n`}${yamlText(object)}`)
      .join('---\n');
  }
  const [only, ...more] = printed.map(({ object }) => object);
  return jsonText(
    only !== undefined && more.length === 0
      ? only
      : { apiVersion: 'v1', kind: 'List', items: printed.map(({ object }) => object) },
  );
}

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Data for machines, in the format that they asked for. */
export function dataText(value: unknown, format: Format): string {
  return format === 'json' ? jsonText(value) : yamlText(value);
}
