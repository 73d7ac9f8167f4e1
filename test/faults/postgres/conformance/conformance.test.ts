/** What the simulated members say and do. That real ones do the same is shown by `real-members-conformance.test.ts`. */
import { describe, expect, it } from 'vitest';
import { conversations, play } from './conversations.ts';
import { simulatedStage } from './simulated-stage.ts';

// The model differs in nothing but the number.
const versions = process.env.CLUSTERWRIGHT_ALL_VERSIONS === '1' ? [15, 17, 18] : [17];

describe.each(versions)('simulated PostgreSQL %s under Patroni', (major) => {
  it.each(conversations.map((row) => [row.story, row] as const))('%s', async (_, row) => {
    expect(await play(row, (spec) => simulatedStage(major, spec))).toEqual(row.yields);
  });
});
