/** F1 to F3: the process ends around a write, or does not learn what became of it. Each at every single write. */
import { type Cell, type FaultGenerator, type Variant, writeNumbers, writesOf } from './fault-class.ts';

/** Runs in which a second process dies, too, are as many as pairs: up to here all of them, beyond it a choice. */
const mostForAllPairs = 8;

function pairs(cell: Cell): readonly Variant[] {
  const numbers = writeNumbers(cell);
  const all = numbers.flatMap((first) => numbers.filter((n) => n > first).map((second) => [first, second] as const));
  const chosen = numbers.length <= mostForAllPairs ? all : all.filter(() => cell.random() < 40 / all.length);
  return chosen.map(([first, second]) => ({
    faults: [first, second].map((write) => ({ do: 'crash', write, when: 'after' }) as const),
  }));
}

export const crashAfter: FaultGenerator = {
  id: 'F1',
  title: 'crash after write k',
  exhaustive: true,
  variants: (cell) => [
    ...writeNumbers(cell).map((write): Variant => ({ faults: [{ do: 'crash', write, when: 'after' }] })),
    ...pairs(cell),
  ],
};

export const crashBefore: FaultGenerator = {
  id: 'F2',
  title: 'crash before write k',
  exhaustive: true,
  variants: (cell) =>
    writeNumbers(cell).map((write): Variant => ({ faults: [{ do: 'crash', write, when: 'before' }] })),
};

export const answerLost: FaultGenerator = {
  id: 'F3',
  title: 'write done, answer lost',
  exhaustive: true,
  variants: (cell) =>
    writesOf(cell).flatMap(({ write = 0, verb }): Variant[] =>
      verb === 'command'
        ? [{ faults: [{ do: 'loseReply', write, how: 'afterEffect' }] }]
        : (['reset', 'timeout'] as const).map((how) => ({ faults: [{ do: 'loseAnswer', write, how }] })),
    ),
};
