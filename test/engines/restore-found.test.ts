/** What a restore finds where it was to begin, and what it then waits for: nobody's data is written over. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { restoredAnnotation } from '../../src/engine/backup-support.ts';
import { planRestore } from '../../src/jobs/restore.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { engineOf, jobOf, resourceOf, target } from '../support/backup-story.ts';

const restore = { target, id: '20261121T030000Z-0123abcd', cluster: { name: 'old' } };
const cluster = resourceOf('RedisCluster', 'db', { bootstrap: { restore } });
const objects = engineOf('RedisCluster')
  .resources(cluster)
  .map(({ object }) => object)
  .slice(0, 3);
const [wantedClaim, config, job] = objects as [KubeObject, KubeObject, KubeObject];
const ownedBy = (uid: string) => [{ apiVersion: 'v1', kind: 'K', name: 'n', uid, controller: true }];
const withMetadata = (object: KubeObject, more: Partial<KubeObject['metadata']>): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...more },
});
const claim = withMetadata(wantedClaim, { uid: 'uid-of-claim' });
const begun = [claim, config];

function found(...there: readonly KubeObject[]): Plan | undefined {
  const annotations = { 'example.com/term': '1' };
  const now = Date.parse('2026-11-21T03:05:00Z');
  return planRestore({ cluster, children: childrenOf(there), objects, annotations, now });
}
const words = (plan: Plan | undefined): readonly string[] =>
  plan === undefined || plan.outcome.state === 'settled'
    ? []
    : [...plan.steps.map(({ type }) => type), plan.outcome.reason, plan.outcome.message];

const earlier = ['EarlierCluster', 'an earlier cluster of this name is still being removed'];
const set = (uid: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: `of-${uid}`, ownerReferences: ownedBy(uid) },
});

describe('a restore that finds', () => {
  it('a StatefulSet of this very cluster is over', () => {
    expect(found(...begun, set('uid-before'), set('uid-of-db'))).toBeUndefined();
  });

  it.each<readonly [story: string, there: readonly KubeObject[], words: readonly string[]]>([
    ['a StatefulSet of an earlier cluster waits', [set('uid-before')], earlier],
    ['a pod of an earlier cluster waits', [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'db-0' } }], earlier],
    [
      'the Job of an earlier cluster waits',
      [...begun, ...jobOf(withMetadata(job, { ownerReferences: ownedBy('uid-before') }), 'running')],
      earlier,
    ],
    [
      'its Job on the way out waits',
      [...begun, ...jobOf(withMetadata(job, { deletionTimestamp: '2026-11-21T03:00:00Z' }), 'running')],
      ['Restoring', 'its Job is begun anew'],
    ],
    [
      'volumes that were kept names them',
      ['data-db-1', 'data-db-2'].map((name) => withMetadata(claim, { name, ownerReferences: [] })),
      ['DataExists', expect.stringContaining('(data-db-1, data-db-2)')],
    ],
  ])('%s', (_, there, expected) => expect(words(found(...there))).toEqual(expected));

  it('its Job done gives the volume away, as a plan shows, though nobody has kept what the agent said', () => {
    expect(found(...begun, ...jobOf(job, 'complete'))?.steps).toMatchObject([
      {
        type: 'patch',
        patch: { metadata: { ownerReferences: [], annotations: { [restoredAnnotation]: 'unknown' } } },
        changes: [
          { path: 'metadata.ownerReferences', from: claim.metadata.ownerReferences, to: [] },
          { path: `metadata.annotations[${restoredAnnotation}]`, to: 'unknown' },
          { path: 'metadata.annotations[example.com/term]', to: '1' },
        ],
      },
    ]);
  });
});
