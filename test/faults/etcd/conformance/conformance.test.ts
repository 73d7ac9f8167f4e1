/** What the simulated members say and do. That real ones do the same is shown by `real-members-conformance.test.ts`. */
import { describe, expect, it } from 'vitest';
import { conversationsOf, play } from './conversations.ts';
import { simulatedStage } from './simulated-stage.ts';

describe.each(['3.5.35', '3.6.16'])('simulated etcd %s', (version) => {
  it.each(conversationsOf(version).map((row) => [row.story, row] as const))('%s', async (_, row) => {
    expect(await play(row, simulatedStage(version))).toEqual(row.yields);
  });
});
