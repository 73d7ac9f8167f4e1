/** Durations as people write them in a spec: one number and one unit, `500ms`, `3s`, `2m`. */

export const durationPattern = '^[0-9]{1,7}(ms|s|m)$';

/** A field with a duration, bounded by a rule. */
export const durationSchema = <const Default extends string>(
  description: string,
  fallback: Default,
  least: string,
  most: string,
) =>
  ({
    type: 'string',
    description: `${description} From ${least} to ${most}.`,
    default: fallback,
    pattern: durationPattern,
    maxLength: 9,
    'x-kubernetes-validations': [
      {
        rule: `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`,
        message: `must be from ${least} to ${most}`,
      },
    ],
  }) as const;

const milliseconds = { ms: 1, s: 1000, m: 60_000 } as const;

/** In milliseconds. Throws where the text has another form. */
export function durationMs(text: string): number {
  const match = /^([0-9]+)(ms|s|m)$/.exec(text);
  const [, amount, unit] = match ?? [];
  if (amount === undefined || unit === undefined) throw new Error(`${JSON.stringify(text)} is no duration`);
  return Number(amount) * milliseconds[unit as keyof typeof milliseconds];
}
