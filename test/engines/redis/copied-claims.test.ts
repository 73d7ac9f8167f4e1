/**
 * Copies of claims that somebody has made under other names, labels and annotations and all: no node has ever run on them,
 * so they say nothing of who was primary, and nothing is written on them.
 */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';

const copiesOf =
  (...names: readonly string[]) =>
  (objects: readonly KubeObject[]): readonly KubeObject[] => {
    const copied = objects.find(({ metadata }) => metadata.name === 'data-db-2');
    if (copied === undefined) throw new Error('there is nothing to copy');
    const copies = names.map((name) => ({ ...copied, metadata: { ...copied.metadata, name, uid: `uid-of-${name}` } }));
    return [...copies, ...objects];
  };
const children = copiesOf('data-backup-db-2', 'data-db-2-20261123', 'data-db-20261123');
const restarted = { primary: 'nobody', terms: { 0: 1, 1: 2, 2: 3 }, sentinels: { all: 'forgot' } } as const;

it.each<PlanRow>([
  ['the last primary is promoted', { ...restarted, children }, ['promote db-2', 'wait Promoting']],
  ['nothing is written on them', { terms: { 2: 3 }, primary: 2, children }, ['settled']],
])('beside copies %s', (_, story, plan) => expect(planned(story)).toEqual(plan));
