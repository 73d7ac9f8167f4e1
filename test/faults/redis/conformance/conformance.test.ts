/** One suite, two stages: what the simulated servers say and do is what real ones say and do. */
import { describe, expect, it } from 'vitest';
import { installedVersion } from '../../../support/redis-server.ts';
import { type Conversation, dataConversations } from './data-conversations.ts';
import { realStage } from './real-stage.ts';
import { sentinelConversations } from './sentinel-conversations.ts';
import { simulatedStage } from './simulated-stage.ts';
import type { Stage } from './stage.ts';

const rows = [...dataConversations, ...sentinelConversations].map((row) => [row.story, row] as const);

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
  it.concurrent.each(rows)(
    '%s',
    async (_, row) => {
      expect(await play(row, await realStage())).toEqual(row.yields);
    },
    30_000,
  );
});
