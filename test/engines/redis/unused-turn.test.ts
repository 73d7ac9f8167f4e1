/** Whether Redis takes its turn among the clusters that roll out: only where something can begin. All pods are ready. */
import { expect, it } from 'vitest';
import { redisKind } from '../../../src/engines/redis/kind/schema.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { withFreeTurn } from '../../support/held-back.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const image: Story = { spec: { image: 'mine.example/redis:8' }, before: {} };
const at = Date.parse('2026-11-29T12:00:00Z');

/** Templates that are written, what is waited for, and what becomes of the place. */
function begins(story: Story): string[] {
  const { cluster, children, observed } = redisWorld({ status: { initialized: true }, ...image, ...story });
  const plan = planRedis(situationOf(cluster, children, observed));
  const gate = withFreeTurn(plan, cluster, children, { at, resource: redisKind.resource });
  const { steps, outcome } = gate.plan;
  const templates = steps.flatMap((step) =>
    step.type === 'apply' && step.object.kind === 'StatefulSet' ? [`template ${step.object.metadata.name}`] : [],
  );
  return [...templates, outcome.state === 'settled' ? 'settled' : `${outcome.state} ${outcome.reason}`, gate.place];
}

/** The third node does not accept the password. */
function refusing(): Story {
  const { data } = redisWorld({}).observed;
  const told = data.map((node, i) =>
    i === 2
      ? { pod: node.pod, address: node.address ?? '', state: 'silent' as const, why: 'x', refusal: 'WRONGPASS' }
      : node,
  );
  return { observed: { data: told } };
}

it.each<readonly [string, Story, string[]]>([
  ['another image begins', {}, ['template db', 'template db-sentinel', 'settled', 'begins']],
  [
    'not while the Secret is missing',
    { observed: { credentialsProblem: 'there is no Secret db-auth' } },
    ['blocked SecretMissing', 'over'],
  ],
  [
    'not while the key of the password is missing',
    { observed: { passwordMissing: 'there is no password' } },
    ['blocked SecretMissing', 'over'],
  ],
  ['not while a node refuses the password', refusing(), ['blocked PasswordUnknown', 'over']],
  [
    'not while the password is of no use',
    { observed: { unusablePassword: 'it is empty', hasUnusableOther: true } },
    ['blocked PasswordUnusable', 'over'],
  ],
  ['not while the identity is of no use', { observed: { identity: 'unusable' } }, ['blocked IdentityUnusable', 'over']],
  ['not while the identity is being made', { observed: { identity: 'missing' } }, ['wait Repairing', 'over']],
  [
    'not while nobody knows who is primary',
    { primary: 'nobody', sentinels: { all: 'forgot' } },
    ['blocked PrimaryUnknown', 'over'],
  ],
  [
    'not while a single node has yet to see its sentinels',
    { sentinels: { all: 'forgot' }, nodes: { 0: { asksSentinels: false } } },
    ['wait AddingSentinels', 'over'],
  ],
  ['not while members are brought in line', { nodes: { 1: 'unassigned' } }, ['wait Repairing', 'over']],
  ['not while a replica copies', { nodes: { 2: { linkUp: false } } }, ['wait MembersNotReady', 'over']],
])('%s', (_, story, expected) => expect(begins(story)).toEqual(expected));
