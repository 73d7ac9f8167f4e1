/** A plan of Redis as short lines: what a row of a table compares. */

import type { Issue } from '../../src/certificates/issue.ts';
import type { RedisAction } from '../../src/engines/redis/action.ts';
import { slotText } from '../../src/engines/redis/kind/slots.ts';
import { addressAnnotation, roleLabel, termAnnotation } from '../../src/engines/redis/names.ts';
import { situationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import type { FieldChange, Outcome, Plan, Step } from '../../src/plan/plan.ts';
import { redisWorld, type Story, type World } from './redis-situation.ts';
import { coherent } from './truthful-engine.ts';

/** The steps in order, then the outcome: `['follow db-2 -> db-1', 'wait Repairing']`. */
export function planned(story: Story): string[] {
  return plannedIn(redisWorld(story));
}

/** What is said in that situation is looked at for contradictions on the way. */
export function plannedIn({ cluster, children, observed }: World): string[] {
  const plan = planRedis(situationOf(cluster, children, observed));
  coherent(redisStatus(situationOf(cluster, children, observed), plan));
  return words(plan);
}

export function words(plan: Plan<RedisAction>): string[] {
  return [...plan.steps.map(stepWords), outcomeWords(plan.outcome)];
}

function outcomeWords(outcome: Outcome): string {
  return outcome.state === 'settled' ? 'settled' : `${outcome.state} ${outcome.reason}`;
}

/** The pod that has the address in `redisWorld`, or the address itself. */
function podAt(address: string): string {
  const [, group, ordinal] = /^10\.0\.([01])\.(\d+)$/.exec(address) ?? [];
  return group === undefined ? address : `${group === '0' ? 'db' : 'db-sentinel'}-${ordinal}`;
}

const fields = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map((entry) => entry.join('='))
    .join(' ');

export function actionWords(action: RedisAction): string {
  switch (action.type) {
    case 'redis.promote':
      return `promote ${action.node.pod}`;
    case 'redis.follow':
      return `follow ${action.node.pod} -> ${podAt(action.primary)}`;
    case 'redis.monitor':
      return `monitor ${action.sentinel.pod} -> ${podAt(action.primary)}${action.instead === undefined ? '' : ' (replace)'}${action.identity ? '' : ' by the password'}`;
    case 'redis.tuneSentinel':
      return (
        `tune ${action.sentinel.pod} ${fields(action.settings)}`.trim() + (action.identity ? '' : ' by the password')
      );
    case 'redis.import':
      return `import ${action.node.pod} <- ${action.from.host}:${action.from.port}${action.anew ? ' anew' : ''}`;
    case 'redis.cutOver':
      return `cut over ${action.node.pod}${action.givenUpAt === undefined ? '' : ` at ${action.givenUpAt}`}`;
    case 'redis.identify':
      return `identify ${action.node.pod}`;
    case 'redis.replicateAs':
      return `replicate as the cluster ${action.node.pod}`;
    case 'redis.watchAs':
      return `watch as the cluster ${action.sentinel.pod}`;
    case 'redis.meetAs':
      return `meet as the cluster ${action.sentinel.pod}`;
    case 'redis.acceptPasswords':
      return `accept ${action.process.pod}`;
    case 'redis.acceptAsWell':
      return `accept ${action.process.pod} as ${action.as.pod}`;
    case 'redis.retirePasswords':
      return `retire ${action.process.pod}`;
    case 'redis.setUsers':
      return `set users ${action.users.join('|')} on ${action.node.pod}`;
    case 'redis.removeUsers':
      return `remove users ${action.users.join('|')} from ${action.node.pod}`;
    case 'redis.secure':
      return `secure ${action.node.pod} ${action.digest}`;
    case 'redis.closeTls':
      return `close TLS ${action.node.pod}`;
    case 'redis.forget':
      return `forget ${action.sentinel.pod}`;
    case 'redis.failover':
      return `fail over by ${action.sentinel.pod}`;
    case 'redis.configure':
      return `configure ${action.node.pod} ${fields(action.settings)}`;
    case 'redis.handOver':
      return `hand over ${action.primary.pod} -> ${action.replicas.map(({ pod }) => pod).join('|')} by ${action.sentinel.pod}`;
    case 'redis.assignSlots':
      return `assign ${slotText(action.slots)} to ${action.node.pod} epoch ${action.epoch}`;
    case 'redis.meet':
      return `${action.node.pod} meets ${action.other.pod}`;
    case 'redis.replicate':
      return `${action.node.pod} replicates ${action.primary.pod}`;
    case 'redis.forgetNode':
      return `forget ${action.id.slice(0, 4)} (${action.pod}) on ${action.nodes.length}`;
    case 'redis.takeOver':
      return `${action.node.pod} takes over from ${action.primary.pod}`;
    case 'redis.moveSlots':
    case 'redis.migrateSlots': {
      const how = action.type === 'redis.migrateSlots' ? 'migrate' : 'move';
      return `${how} slots ${slotText(action.slots)} ${action.source.pod} -> ${action.target.pod}`;
    }
    case 'redis.cancelMigrations':
      return `cancel migrations ${action.source.pod}`;
    case 'redis.returnKeys':
      return `return keys of slot ${action.slot} ${action.from.pod} -> ${action.owner.pod}`;
    case 'redis.closeSlot':
      return `close slot ${action.slot} of ${action.owner.pod}`;
    default:
      return action satisfies never;
  }
}

function issueWords(issue: Issue): string {
  if (issue.what === 'copy') return `copy ${issue.part}`;
  return issue.what === 'leaf' && !issue.renew ? 'leaf kept' : issue.what;
}

const shown = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

function changeWords({ path, from, to }: FieldChange): string {
  if (path === `metadata.labels[${roleLabel}]`) return `role ${shown(from)} > ${shown(to)}`;
  if (path === `metadata.annotations[${addressAnnotation}]`) return `address ${shown(from)} > ${shown(to)}`;
  if (path === `metadata.annotations[${termAnnotation}]`) return `term ${shown(from)} > ${shown(to)}`;
  return `${path} ${shown(from)} > ${shown(to)}`;
}

function stepWords(step: Step<RedisAction>): string {
  switch (step.type) {
    case 'create':
      return `create ${step.object.kind} ${step.object.metadata.name}`;
    case 'issue':
      return `issue ${step.object.metadata.name}: ${issueWords(step.issue)}`;
    case 'apply': {
      const changes = step.changes.filter(({ path }) => !path.includes('clusterwright.dev/desired'));
      return `apply ${step.object.kind} ${step.object.metadata.name}: ${changes.map(changeWords).join(', ')}`;
    }
    case 'patch':
      return `${step.optional === true ? 'try ' : ''}${step.ref.name}: ${step.changes.map(changeWords).join(', ')}`;
    case 'resize':
      return `resize ${step.ref.name}: ${step.changes.map(({ path, to }) => `${path.replace(/^.*\.resources\./, '')} ${to}`).join(', ')}`;
    case 'delete':
      return `delete ${step.ref.resource.kind} ${step.ref.name}`;
    case 'act':
      return actionWords(step.action);
    default:
      return step satisfies never;
  }
}

/** A story, the situation that it tells of, and the plan for it. */
export type PlanRow = readonly [story: string, situation: Story, plan: readonly string[]];
