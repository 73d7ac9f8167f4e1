/** What is wrong with an object, and where. */

export interface Violation {
  /** `spec.sentinel.quorum` */
  readonly path: string;
  /** The schema keyword with its bound, or the CEL rule. */
  readonly rule: string;
  readonly message: string;
}

export type Path = readonly (string | number)[];

/** A path as Kubernetes writes it: `spec.tolerations[0].key`, `metadata.labels[example.com/team]`. */
export function displayPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z0-9_-]+$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${part}]`;
  }
  return text;
}
