/** The conversations that the simulation is held to, with real members of every version that is compiled here. */
import { describe, expect, it } from 'vitest';
import { conversationsOf, play } from '../../faults/etcd/conformance/conversations.ts';
import { realStage } from '../../faults/etcd/conformance/real-stage.ts';
import { etcdBinaries } from '../../support/etcd-binary.ts';

const versions = [...etcdBinaries];

describe.skipIf(versions.length === 0).each(versions)('etcd %s', (version, binary) => {
  // Every conversation has a network of its own.
  const third = versions.findIndex(([other]) => other === version) * 100;
  it.concurrent.each(conversationsOf(version).map((row, n) => [row.story, row, n] as const))(
    '%s',
    async (_, row, n) => {
      expect(await play(row, realStage(binary, `50.${third + n}`))).toEqual(row.yields);
    },
    300_000,
  );
});
