/** Whether PostgreSQL takes its turn among the clusters that roll out: only where something can begin. All pods are ready. */
import { expect, it } from 'vitest';
import { postgresKind } from '../../../src/engines/postgres/kind/schema.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { withFreeTurn } from '../../support/held-back.ts';
import { now, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { before, jobOf, spec, withJobs, withPause } from '../../support/postgres-upgrade.ts';
import { words } from '../../support/postgres-words.ts';

const image: Story = { spec: { image: 'mine.example/postgres:17' }, before: {} };
const alone = { spec: { ...image.spec, instances: 1 }, before: { instances: 1 } } satisfies Story;

function begins(story: Story, isTold = true): string[] {
  const { cluster, children, observed } = postgresWorld({ status: { initialized: true }, ...story });
  const { config: _, ...untold } = observed;
  const plan = planPostgres(situationOf(cluster, children, isTold ? observed : untold), () => undefined);
  const gate = withFreeTurn(plan, cluster, children, { at: now, resource: postgresKind.resource });
  const lines = words(gate.plan as typeof plan).map((line) =>
    line.replace(/^apply StatefulSet (.*?):.*$/, 'template $1'),
  );
  return [...lines, gate.place];
}

const { server } = seenPrimary();

/** What the operator has seen of the server of a member that is well. */
function seenPrimary() {
  const [member] = postgresWorld({ status: { initialized: true } }).observed.members;
  if (member?.state !== 'answering' || member.server?.state !== 'seen') throw new Error('nobody is seen');
  return { server: member.server };
}

function withConfig(config: string) {
  return { server: { ...server, facts: { ...server.facts, config } } };
}

it.each<readonly [string, Story, true | undefined]>([
  ['a pause of Patroni', { children: withPause() }, true],
  ['a standby that does not stream', { members: { 1: { isStreaming: false } } }, true],
  [
    'a standby that does not stream, before a major upgrade',
    { spec, before, members: { 1: { isStreaming: false } } },
    undefined,
  ],
  [
    'a standby that does not stream, and settings that it has yet to read',
    { members: { 0: withConfig('old'), 1: { isStreaming: false } } },
    undefined,
  ],
  [
    'a standby that does not stream, and one that has to restart for its settings',
    { members: { 1: { isStreaming: false }, 2: { restartPending: true } } },
    undefined,
  ],
  ['a standby that does not answer', { members: { 1: 'silent' } }, undefined],
  [
    'transactions that are prepared, and settings that wait for them',
    {
      spec: { parameters: { max_connections: '200' } },
      before: {},
      members: { 0: { server: { ...server, facts: { ...server.facts, prepared: 1 } } } },
    },
    undefined,
  ],
  ['the rehearsal of a major upgrade', { spec, before }, undefined],
  ['settings that are brought in line', { spec: { parameters: { max_connections: '200' } }, before: {} }, undefined],
])('whether members may be interrupted after %s', (_, story, expected) => {
  const { cluster, children, observed } = postgresWorld({ status: { initialized: true }, ...story });
  expect(planPostgres(situationOf(cluster, children, observed), () => undefined).isIdle).toBe(expected);
});

const templates = ['template db-0', 'template db-1', 'template db-2'];

it.each<readonly [string, Story, string[]]>([
  ['another image begins', image, [...templates, 'settled', 'begins']],
  ['not while a person has paused Patroni', { ...image, children: withPause() }, ['wait FailoverPaused', 'over']],
  [
    'not while a standby does not stream',
    { ...image, members: { 1: { isStreaming: false } } },
    ['wait MembersNotReady', 'over'],
  ],
  [
    'not while the only member would lose its volume',
    { ...alone, claims: { 0: 'going' } },
    ['wait WaitingForRollout', 'over'],
  ],
  [
    'a major upgrade begins with its record',
    { spec, before, ...withJobs(jobOf({ mode: 'rehearse' }, { says: 'system=9' })) },
    ['apply ConfigMap db-members: data.upgrade', 'wait Upgrading', 'begins'],
  ],
  [
    'a server restarts for its settings also in a pause',
    { members: { 1: { restartPending: true } }, children: withPause() },
    ['restart db-1-0', 'wait Restarting', 'begins'],
  ],
  [
    'also while another image waits for the end of the pause',
    { ...image, members: { 1: { restartPending: true } }, children: withPause() },
    ['restart db-1-0', 'wait Restarting', 'begins'],
  ],
  [
    'and the only one, whose volume would go with its pod, restarts for them as well',
    { ...alone, spec: { instances: 1 }, members: { 0: { restartPending: true } }, claims: { 0: 'going' } },
    ['restart db-0-0', 'wait Restarting', 'begins'],
  ],
])('%s', (_, story, expected) => expect(begins(story)).toEqual(expected));

it('another image does not begin while Patroni does not tell its configuration', () =>
  expect(begins(image, false)).toEqual(['wait MembersNotReady', 'over']));

it('a volume that would go with its pod is in the way of templates alone', () => {
  const why = (story: Story): string | undefined => {
    const { cluster, children, observed } = postgresWorld({ status: { initialized: true }, ...story });
    return planPostgres(situationOf(cluster, children, observed), () => undefined).noRestarts;
  };
  const going = { ...alone, claims: { 0: 'going' } } satisfies Story;
  expect(why(going)).toContain('somebody has deleted the volume of db-0-0');
  expect(why({ ...going, spec: { instances: 1 }, members: { 0: { restartPending: true } } })).toBeUndefined();
});
