/** Members that run with more than the spec says, of settings of which a standby needs no less than its primary. */
import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

/** `isPending`: PostgreSQL says that its next start changes it. */
const setting = (name: string, value: number, isPending = false) => ({
  name,
  value: `${value}`,
  isDefault: false,
  isText: false,
  isPending,
});
const connections = (value: number, isPending?: boolean) => setting('max_connections', value, isPending);

interface Change {
  readonly restartPending?: boolean;
  readonly awaitsPrimary?: boolean;
  readonly lowered?: Readonly<Record<string, number>>;
}
/** `settings`: what its server says of them. */
const member =
  (settings: readonly object[], change: Change = {}, configAgeMs = 60_000) =>
  (index: 0 | 1, parameters: object) => {
    const found = postgresWorld({ spec: { instances: 2, parameters } as never }).observed.members[index];
    const seen = found?.state === 'answering' && found.server?.state === 'seen' ? found.server : undefined;
    const facts = { ...seen?.facts, pending: settings.length, configAgeMs };
    return { ...change, server: { ...seen, settings, facts } };
  };
type Made = ReturnType<typeof member>;
const story = (primary: Made, standby?: Made, parameters: object = { max_connections: '100' }): Story =>
  ({
    spec: { instances: 2, parameters },
    members: {
      0: primary(0, parameters),
      ...(standby === undefined ? {} : { 1: standby(1, parameters) }),
    },
  }) as never;
const said = (given: Story): string => {
  const { cluster, children, observed } = postgresWorld(given);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? '' : outcome.message;
};
/** The plan while nobody may be interrupted. */
const closed = (given: Story) => {
  const { cluster, children, observed } = postgresWorld(given);
  return planPostgres(situationOf(cluster, children, observed), () => undefined).otherwise;
};
const well = member([connections(100)]);
const held = { restartPending: true, awaitsPrimary: true, lowered: { max_connections: 200 } } as const;

describe('a standby', () => {
  const forgotten = member([connections(200, true)]);
  table([
    ['with what is wanted is left alone', story(well, well), ['settled']],
    [
      'whose Patroni has forgotten that it takes a restart has it ask again',
      story(well, forgotten),
      ['reload db-1-0', 'wait Updating'],
    ],
    [
      'is asked about after half a minute',
      story(well, member([connections(200, true)], {}, 29_000)),
      ['wait Updating'],
    ],
    [
      'that has read its files only when it started has it read them anew',
      story(well, member([connections(200)], {}, 3_599_000)),
      ['reload db-1-0', 'wait Updating'],
    ],
    [
      'that takes a restart has one',
      story(well, member([connections(200, true)], held)),
      ['restart db-1-0', 'wait Restarting'],
    ],
    [
      'is not restarted for what its primary has: it would start with as much again',
      story(member([connections(200)]), member([connections(200, true)], held)),
      ['blocked ParametersRefused'],
    ],
    [
      'is restarted for another setting all the same',
      story(
        member([connections(200)]),
        member([connections(200, true)], { restartPending: true, awaitsPrimary: true }),
      ),
      ['restart db-1-0', 'wait Restarting'],
    ],
  ]);
});

describe('while restarts wait for a window or a turn', () => {
  const more = member([connections(200, true)], held);
  it.each<[string, Story]>([
    ['a lowered value', story(more, more)],
    ['a value that nobody sets any more', story(more, more, {})],
    ['a standby whose primary has yet to lower it', story(more, member([connections(200)]))],
    [
      'a raised value',
      story(member([connections(100, true)], { restartPending: true }), well, { max_connections: '200' }),
    ],
  ])('%s is nothing that is refused', (_, given) => expect(closed(given)?.outcome.state).toBe('settled'));
});

describe('a primary', () => {
  it.each<[string, Story, string]>([
    [
      'that takes no restart for it is named, with the way out',
      story(member([connections(200)]), member([connections(200)])),
      'PostgreSQL of db-0-0 was started with max_connections=200 instead of 100: delete the pod, so that it starts anew',
    ],
    [
      'has what nobody sets',
      story(member([setting('max_worker_processes', 16)]), well, {}),
      'PostgreSQL of db-0-0 was started with max_worker_processes=16 instead of 8: delete the pod, so that it starts anew',
    ],
    [
      'has what Patroni takes in place of a value that it refuses',
      story(member([connections(100, true)]), well, { max_connections: '20' }),
      'max_connections=20 is not valid, and 100 is in force: the members run without; correct or remove it in spec.parameters',
    ],
    [
      'has less than is wanted, and takes no restart for it',
      story(member([connections(50)]), well),
      'max_connections=100 is not valid, and 50 is in force: the members run without; correct or remove it in spec.parameters',
    ],
  ])('%s', (_, given, words) => {
    expect(planned(given)).toEqual(['blocked ParametersRefused']);
    expect(said(given)).toBe(words);
  });
});

it('what somebody has changed behind the back of Patroni restarts nobody', () => {
  // `ALTER SYSTEM SET max_connections = 200`: the command line wins at each start, and each reload says that it takes a restart.
  expect(planned(story(member([connections(100, true)]), member([connections(100, true)])))).toEqual(['settled']);
});
