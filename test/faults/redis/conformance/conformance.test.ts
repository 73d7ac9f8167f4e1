/** What the simulated servers say and do. That real ones do the same is shown by `real-conformance.test.ts`. */
import { describe, expect, it } from 'vitest';
import { installedVersion } from '../../../support/redis-server.ts';
import { conversations, play } from './conversations.ts';
import { simulatedStage } from './simulated-stage.ts';

describe('simulated', () => {
  it.each(conversations.map((row) => [row.story, row] as const))('%s', async (_, row) => {
    expect(await play(row, simulatedStage(installedVersion ?? '7.0'))).toEqual(row.yields);
  });
});
