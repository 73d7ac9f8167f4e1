/** A volume that an earlier cluster of the name got from a restore, and a resource that asks for a point in time. */
import { expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { restoredAnnotation, restoredPointAnnotation } from '../../../src/engine/backup-support.ts';
import { postgresKind } from '../../../src/engines/postgres/kind/schema.ts';
import { planRestore } from '../../../src/jobs/restore.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { engineOf, jobOf, resourceOf, taken, target, timeOnly } from '../../support/backup-story.ts';

const { kind } = postgresKind.resource;
const engine = engineOf(kind);
const noon = { time: '2026-11-21T12:00:00Z' };
const folder = `apps/${kind}/uid-of-old/20261121T030000Z-0123abcd`;

const upTo = (until?: object): Cluster =>
  resourceOf(kind, 'db', {
    bootstrap: { restore: { target, cluster: { uid: 'uid-of-old' }, ...(until && { until }) } },
  });

const [claim, , job] = engine.resources(upTo(noon)).map(({ object }) => object) as [KubeObject, KubeObject, KubeObject];

const filled = (point?: string): KubeObject => ({
  ...claim,
  metadata: {
    ...claim.metadata,
    uid: 'uid-of-claim',
    ownerReferences: [],
    annotations: { [restoredAnnotation]: folder, ...(point && { [restoredPointAnnotation]: point }) },
  },
});

async function found(cluster: Cluster, objects: readonly KubeObject[]) {
  const children = childrenOf(objects);
  const { plan } = await engine.assess(cluster, children, timeOnly());
  return { ...plan, isForeign: engine.ownsNoVolume?.(cluster, children) };
}

it('the point is written on the volume that is filled', async () => {
  const fetched = { ...taken, result: 'fetched' } as typeof taken;
  const owned = { ...claim, metadata: { ...claim.metadata, uid: 'uid-of-claim' } };
  const { steps } = await found(upTo(noon), [owned, ...jobOf(job, 'complete', fetched)]);
  expect(steps).toMatchObject([
    { type: 'patch', patch: { metadata: { annotations: { [restoredPointAnnotation]: 'time 2026-11-21T12:00:00Z' } } } },
  ]);
});

it.each([
  ['another time', 'time 2026-11-21T13:00:00Z'],
  ['another kind of point', 'lsn 16/B374D848'],
  ['the end of the log', undefined],
])('a volume with the data up to %s is not taken for the one that is asked for', async (_, point) => {
  const { steps, outcome, isForeign } = await found(upTo(noon), [filled(point)]);
  expect([steps, outcome, isForeign]).toMatchObject([[], { state: 'blocked', reason: 'DataExists' }, true]);
  expect(outcome).toMatchObject({ message: expect.stringMatching(/names up to time 2026-11-21T12:00:00Z: delete it/) });
});

it('a cluster goes on with the data up to the same point, and where none is named, with what is there', () => {
  const there = childrenOf([filled('time 2026-11-21T12:00:00Z')]);
  for (const cluster of [upTo(noon), upTo()]) {
    const { point } = engine.backup?.restoreTemplate(cluster) ?? {};
    const situation = { cluster, children: there, objects: [claim], annotations: {}, point, now: 0 };
    expect(planRestore(situation)).toBeUndefined();
    expect(engine.ownsNoVolume?.(cluster, there)).toBe(false);
  }
});
