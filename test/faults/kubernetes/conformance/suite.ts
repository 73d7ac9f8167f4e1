/**
 * The conformance suite: the same stories on a server under test, whichever it is. What the simulated Kubernetes does
 * differently from a real one on purpose is not in here.
 */
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { ConformanceCase, Scene } from './conformance-case.ts';
import { deletionCases } from './deletions.ts';
import { jobCases } from './jobs.ts';
import { ownershipCases } from './ownership.ts';
import { resizeCases } from './resizes.ts';
import { setCases } from './sets.ts';
import { sidecarCases } from './sidecars.ts';
import { statusCases } from './statuses.ts';
import { watchCases } from './watches.ts';
import { workloadCases } from './workloads.ts';
import { writeCases } from './writes.ts';

export interface ServerUnderTest {
  /** Whether there are nodes: without them the cases that need running pods are skipped. */
  readonly runsPods: boolean;
  /** Plays in a new namespace, and resolves when the story is over. */
  play(story: (scene: Scene) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

const chapters: Readonly<Record<string, readonly ConformanceCase[]>> = {
  writes: writeCases,
  statuses: statusCases,
  ownership: ownershipCases,
  watches: watchCases,
  deletions: deletionCases,
  sets: setCases,
  workloads: workloadCases,
  jobs: jobCases,
  sidecars: sidecarCases,
  resizes: resizeCases,
};

export function kubernetesConformance(name: string, open: () => Promise<ServerUnderTest>): void {
  describe(name, () => {
    let server: ServerUnderTest | undefined;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(() => server?.close());

    for (const [chapter, cases] of Object.entries(chapters)) {
      describe(chapter, () => {
        for (const { story, play, pods } of cases) {
          test(story, async (context) => {
            if (pods === true && server?.runsPods !== true) context.skip('there are no nodes');
            await server?.play(play);
          });
        }
      });
    }
  });
}
