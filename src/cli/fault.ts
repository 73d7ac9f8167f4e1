/**
 * What is wrong with what the user gave us, and where. A `BadInput` is printed as its faults, one a line, and never with
 * a stack: it is no defect of the program.
 */

export interface Fault {
  /** A file, `standard input`, or an object of the cluster. */
  readonly source: string;
  /** Counting from 1; absent where there is no text. */
  readonly line?: number;
  readonly column?: number;
  /** `spec.sentinel.quorum`; absent where the fault is not in a field. */
  readonly path?: string;
  readonly message: string;
  /** The schema keyword with its bound, or the CEL rule. */
  readonly rule?: string;
}

export class BadInput extends Error {
  readonly code = 'BadInput';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options?: ErrorOptions) {
    super(faults.map(faultText).join('\n'), options);
    this.name = 'BadInput';
    this.faults = faults;
  }
}

/** A single fault that has no place in a text. */
export function badInput(source: string, message: string, options?: ErrorOptions): BadInput {
  return new BadInput([{ source, message }], options);
}

/** `redis.yaml:7:3: spec.replicas: must be <= 9`, and the rule on a line of its own where it says more. */
export function faultText({ source, line, column, path, message, rule }: Fault): string {
  const place = [source, line, column].filter((part) => part !== undefined).join(':');
  const text = [place, path, message].filter((part) => part !== undefined && part !== '').join(': ');
  return rule === undefined ? text : `${text}\n    rule: ${rule}`;
}

/** Something that the user can act on and that is not about a text: no cluster, no such object, no build. */
export class CommandError extends Error {
  readonly code = 'CommandError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
  }
}
