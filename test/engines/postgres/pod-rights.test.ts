/** Which pods the Role of a cluster's pods names. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';

const nothingYet = { numbers: [], primary: 'nobody', status: {}, children: () => [] } as const satisfies Story;

describe('the rights of the pods', () => {
  /** Pods that the members may change; undefined where no Role is written. */
  const pods = (story: Story): readonly string[] | undefined => {
    const { cluster, children, observed } = postgresWorld(story);
    const { steps } = planPostgres(situationOf(cluster, children, observed), () => undefined);
    const role = steps.flatMap((step) =>
      (step.type === 'create' || step.type === 'apply') && step.object.kind === 'Role' ? [step.object] : [],
    )[0] as (KubeObject & { rules: { resources: string[]; verbs: string[]; resourceNames?: string[] }[] }) | undefined;
    return role?.rules.flatMap(({ resources, verbs, resourceNames = ['everybody’s'] }) =>
      resources.includes('pods') && verbs.includes('patch') ? resourceNames : [],
    );
  };
  const withSet =
    (number: number, owner?: string): NonNullable<Story['children']> =>
    (objects) =>
      objects.flatMap((object) => {
        if (object.kind !== 'StatefulSet' || object.metadata.name !== `db-${number}`) return [object];
        const ownerReferences = [
          { apiVersion: 'v1', kind: 'Other', name: 'other', uid: owner ?? '', controller: true },
        ];
        return owner === undefined ? [] : [{ ...object, metadata: { ...object.metadata, ownerReferences } }];
      });
  const all = ['db-0-0', 'db-1-0', 'db-2-0'];
  it.each<[string, Story, readonly string[] | undefined]>([
    ['of a new cluster are about the pods of the StatefulSets that are made before', nothingYet, all],
    ['of members that have their StatefulSets are as they were written', {}, undefined],
    ['stay about a member whose StatefulSet is gone, and made again before', { children: withSet(1) }, undefined],
    ['leave out a pod whose StatefulSet is somebody else’s', { children: withSet(2, 'x') }, ['db-0-0', 'db-1-0']],
    ['come to be about those that are added', { spec: { instances: 4 }, before: {} }, [...all, 'db-3-0']],
  ])('%s', (_, story, expected) => expect(pods(story)).toEqual(expected));
});
