/** A plan in a file that somebody names: what is wrong with it is said in a line. */
import { readFile } from 'node:fs/promises';
import { scenarios } from './catalogue.ts';
import type { Fault, Plan } from './plan.ts';

/** The file, or what is in it, is no plan. */
export class BadPlan extends Error {
  readonly code = 'BadPlan';
  constructor(file: string, message: string, options?: ErrorOptions) {
    super(`${file}: ${message}`, options);
    this.name = 'BadPlan';
  }
}

const faults: Readonly<Record<Fault['do'], true>> = {
  crash: true,
  loseAnswer: true,
  refuse: true,
  touchBefore: true,
  errors: true,
  apiDown: true,
  freezeView: true,
  skipVersions: true,
  delayWatch: true,
  replayEvents: true,
  endWatch: true,
  expire: true,
  loseLease: true,
  drift: true,
  kill: true,
  freeze: true,
  isolate: true,
  fillDisk: true,

  loseReply: true,
  deny: true,
  flap: true,
  killAgent: true,
  storeAway: true,
};

/** @throws BadPlan */
export async function readPlan(file: string): Promise<Plan> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new BadPlan(file, cause.code === 'ENOENT' ? 'there is no such file' : cause.message, { cause });
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BadPlan(file, 'is not JSON', { cause });
  }
  const { scenario, seed, faults: planned } = (value ?? {}) as Partial<Record<keyof Plan, unknown>>;
  if (typeof scenario !== 'string') throw new BadPlan(file, 'is no plan: it names no scenario');
  if (!scenarios.some(({ id }) => id === scenario)) {
    const known = scenarios.map(({ id }) => id).join(', ');
    throw new BadPlan(file, `there is no scenario ${scenario}; there are: ${known}`);
  }
  if (!Number.isInteger(seed)) throw new BadPlan(file, 'seed must be a whole number');
  if (!Array.isArray(planned)) throw new BadPlan(file, 'faults must be a list; an empty one is an undisturbed run');
  for (const [at, fault] of planned.entries()) {
    const { do: what } = (fault ?? {}) as { readonly do?: unknown };
    if (typeof what !== 'string' || !Object.hasOwn(faults, what)) {
      throw new BadPlan(file, `faults[${at}].do must be one of ${Object.keys(faults).join(', ')}`);
    }
  }
  return value as Plan;
}
