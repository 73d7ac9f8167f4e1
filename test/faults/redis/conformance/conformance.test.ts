/** One suite, two stages: what the simulated servers say and do is what real ones say and do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installedVersion } from '../../../support/redis-server.ts';
import type { Conversation } from './conversation.ts';
import { dataConversations } from './data-conversations.ts';
import { identityConversations } from './identity-conversations.ts';
import { realStage } from './real-stage.ts';
import { replicationConversations } from './replication-conversations.ts';
import { sentinelConversations } from './sentinel-conversations.ts';
import { simulatedStage } from './simulated-stage.ts';
import type { Stage } from './stage.ts';

/** Those with sentinels first, since they wait for seconds. */
const conversations = [
  ...identityConversations,
  ...sentinelConversations,
  ...replicationConversations,
  ...dataConversations,
];
const rows = conversations.map((row) => [row.story, row] as const);

/** How many take place at once on real servers. */
const atOnce = 10;

async function play(conversation: Conversation, stage: Stage): Promise<unknown> {
  try {
    return await conversation.play(stage);
  } finally {
    await stage.close();
  }
}

describe('simulated', () => {
  it.each(rows)('%s', async (_, row) => {
    expect(await play(row, simulatedStage(installedVersion ?? '7.0'))).toEqual(row.yields);
  });
});

describe.skipIf(installedVersion === undefined)('real (needs redis-server on the PATH)', () => {
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
        const outcome = realStage().then((stage) => play(row, stage));
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

  it.each(rows)('%s', async (_, row) => expect(await outcomes.get(row)).toEqual(row.yields), 180_000);
});
