/** The conversations that the simulation is held to, on real servers of each engine and version. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverPrograms } from '../../../support/redis-program.ts';
import type { Conversation } from './conversation.ts';
import { conversations, play } from './conversations.ts';
import { yieldsOn } from './dialects.ts';
import { realStage } from './real-stage.ts';

/** How many take place at once on real servers. */
const atOnce = 10;

describe.skipIf(serverPrograms.length === 0).each([...serverPrograms])('real $name', (own) => {
  const outcomes = new Map<Conversation, Promise<unknown>>();
  const waiting = [...conversations];
  const underWay: Promise<void>[] = [];

  beforeAll(() => {
    const settlers = new Map<Conversation, (outcome: Promise<unknown>) => void>();
    for (const row of conversations) {
      const outcome = new Promise((resolve) => settlers.set(row, resolve));
      // It is asked for by its own test, which may be later.
      outcome.catch(() => undefined);
      outcomes.set(row, outcome);
    }
    const next = async (): Promise<void> => {
      for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
        const outcome = realStage(() => own.server).then((stage) => play(row, stage));
        settlers.get(row)?.(outcome);
        await outcome.catch(() => undefined);
      }
    };
    for (let i = 0; i < atOnce; i++) underWay.push(next());
  });
  // Where only some rows were asked for, the rest is not begun.
  afterAll(async () => {
    waiting.length = 0;
    await Promise.all(underWay);
  }, 180_000);

  it.each(conversations.map((row) => [row.story, row] as const))(
    '%s',
    async (_, row) => expect(await outcomes.get(row)).toEqual(yieldsOn(own, row)),
    180_000,
  );
});
