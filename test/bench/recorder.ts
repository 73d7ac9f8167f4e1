/** Keeps what was found so far and writes it down after each measure, so that a run that is cut is not lost. */
import { mkdir, writeFile } from 'node:fs/promises';
import type { Results } from './results.ts';

type Lists = {
  [K in keyof Results as Results[K] extends readonly unknown[] ? K : never]: Results[K];
};

export interface Recorder {
  readonly results: Results;
  set(found: Partial<Results>): Promise<void>;
  add<K extends keyof Lists>(list: K, item: Lists[K][number]): Promise<void>;
}

export function createRecorder(
  file: string,
  begin: Pick<Results, 'at' | 'subject' | 'machine'>,
  say: (line: string) => void,
): Recorder {
  const startedAt = performance.now();
  let results: Results = {
    ...begin,
    ceilings: [],
    floors: [],
    converged: [],
    restarts: [],
    churned: [],
    counted: [],
    synthesized: [],
    scheduled: [],
    rechecked: [],
    answered: [],
    seconds: 0,
  };
  const set = async (found: Partial<Results>): Promise<void> => {
    results = { ...results, ...found, seconds: (performance.now() - startedAt) / 1000 };
    await mkdir('build', { recursive: true });
    await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  };
  return {
    get results() {
      return results;
    },
    set,
    async add(list, item) {
      say(`${list}: ${JSON.stringify(item)}`);
      await set({ [list]: [...results[list], item] });
    },
  };
}
