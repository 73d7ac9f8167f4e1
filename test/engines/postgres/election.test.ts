import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';

const again = (story: Story): unknown => {
  const { cluster, children, observed } = postgresWorld(story);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? 'settled' : [outcome.reason, outcome.recheckMs];
};
const creating: Story['children'] = (objects) =>
  objects.map((object) =>
    object.kind === 'Pod'
      ? ({
          ...object,
          status: {
            phase: 'Pending',
            startTime: '2026-01-01T00:00:00Z',
            containerStatuses: [{ name: 'postgres', state: { waiting: { reason: 'ContainerCreating' } } }],
          },
        } as typeof object)
      : object,
  );
const begun: Story['children'] = (objects) =>
  objects.map((object) =>
    object.metadata.name === 'db-config'
      ? { ...object, metadata: { ...object.metadata, annotations: { initialize: '' } } }
      : object,
  );
const withoutPods: Story['children'] = (objects) => objects.filter(({ kind }) => kind !== 'Pod');

describe('a cluster without a primary is looked at again', () => {
  it.each<readonly [string, Story, unknown]>([
    ['every second while members elect one: no event tells of it', { primary: 'nobody' }, ['NoPrimary', 1000]],
    [
      'when a pod runs, and not before',
      { primary: 'nobody', members: {}, children: withoutPods },
      ['NoPrimary', undefined],
    ],
    [
      'while a pod waits for its volumes: no event tells of a Secret that is gone',
      { primary: 'nobody', members: {}, children: creating },
      ['NoPrimary', 10_000],
    ],
    [
      'when its first pod runs',
      { numbers: [], primary: 'nobody', status: {}, children: () => [] },
      ['Forming', undefined],
    ],
  ])('%s', (_, story, expected) => expect(again(story)).toEqual(expected));
});

describe('a database that was begun and not finished', () => {
  const idle = { systemId: undefined, role: undefined, isStreaming: false } as never;
  const said = (first: object): string => {
    const { cluster, children, observed } = postgresWorld({
      status: {},
      primary: 'nobody',
      starts: { 0: 'form', all: 'join' },
      claims: { all: 'blank' },
      children: begun,
      members: { all: { ...(idle as object), postgres: 'stopped' }, 0: { ...(idle as object), ...first } },
    });
    const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
    return outcome.state === 'settled' ? '' : outcome.message;
  };
  const words = 'initialize is empty in ConfigMap db-config';

  it.each([
    ['stopped', true],
    ['uninitialized', true],
    ['initializing new cluster', false],
    ['running', false],
  ])('is told where nobody is at work on it: %s', (postgres, isTold) =>
    expect(said({ postgres }).includes(words)).toBe(isTold),
  );
});
