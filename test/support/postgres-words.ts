/** A plan of PostgreSQL as short lines: what a row of a table compares. */
import type { BackupFactory } from '../../src/engine/backup-support.ts';
import type { Pause, PostgresAction } from '../../src/engines/postgres/action.ts';
import { configSetting } from '../../src/engines/postgres/names.ts';
import { situationOf } from '../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../src/engines/postgres/plan/plan.ts';
import { postgresStatus } from '../../src/engines/postgres/status.ts';
import type { Outcome, Plan, Step } from '../../src/plan/plan.ts';
import { postgresWorld, type Story } from './postgres-situation.ts';
import { coherent } from './truthful-engine.ts';

/** The steps in order, then the outcome. What is said in that situation is looked at for contradictions on the way. */
export function planned(story: Story, take: BackupFactory = () => undefined): string[] {
  const { cluster, children, observed } = postgresWorld(story);
  const situation = situationOf(cluster, children, observed);
  const plan = planPostgres(situation, take);
  coherent(postgresStatus(situation, plan));
  return words(plan);
}

export function words(plan: Plan<PostgresAction>): string[] {
  return [...plan.steps.map(stepWords), outcomeWords(plan.outcome)];
}

function outcomeWords(outcome: Outcome): string {
  return outcome.state === 'settled' ? 'settled' : `${outcome.state} ${outcome.reason}`;
}

/** `postgresql.parameters.work_mem`, for each leaf. */
function leaves(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}=${String(value)}`];
  return Object.entries(value).flatMap(([field, inner]) => leaves(inner, path === '' ? field : `${path}.${field}`));
}

export function actionWords(action: PostgresAction): string {
  switch (action.type) {
    case 'postgres.configure':
      return `configure ${leaves(action.patch)
        .filter((leaf) => !leaf.includes(configSetting))
        .join(' ')}`;
    case 'postgres.switchover':
      return `switch over ${action.from} -> ${action.to}${pauseWords(action.pause)}`;
    case 'postgres.makeApplication':
      return `make application${action.hasOwner ? ', owner is there' : ''}${action.hasDatabase ? ', database is there' : ''}`;
    case 'postgres.reload':
      return `reload ${action.member.pod}`;
    case 'postgres.reinitialize':
      return `copy ${action.member.pod} again`;
    case 'postgres.failover':
      return `promote ${action.member.pod}`;
    case 'postgres.restart':
      return `restart ${action.member.pod}${pauseWords(action.pause)}`;
    case 'postgres.resume':
      return `resume ${action.poolers.map(({ pod }) => pod).join(' ')}`;
    case 'postgres.setLogin':
      return `set password of ${action.role}`;
    case 'postgres.markFilled':
      return 'write down that init.sql has run';
    case 'postgres.stage':
      return `${action.change} ${action.database}`;
    case 'postgres.import':
      return `tell ${action.member.pod} of the source`;
    case 'postgres.cutOver':
      return action.request === undefined
        ? `withdraw the cut-over of ${action.member.pod}`
        : `cut over ${action.member.pod}: ${action.request}`;
    default:
      return action satisfies never;
  }
}

function pauseWords(pause: Pause | undefined): string {
  return pause === undefined ? '' : `, ${pause.poolers.map(({ pod }) => pod).join(' ')} paused`;
}

const shown = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

function stepWords(step: Step<PostgresAction>): string {
  switch (step.type) {
    case 'create':
      return `create ${step.object.kind} ${step.object.metadata.name}`;
    case 'issue':
      return `issue ${step.object.metadata.name}`;
    case 'apply': {
      const changes = step.changes.filter(({ path }) => !path.includes('clusterwright.dev/desired'));
      const changed = changes.map(({ path, to }) => {
        if (path.endsWith('.bootstrap.yml]')) return `${path.slice(5, -1)} ${to === undefined ? 'gone' : 'written'}`;
        return path.startsWith('data[') ? `${path.slice(5, -1)}=${shown(to ?? 'gone')}` : path;
      });
      return `apply ${step.object.kind} ${step.object.metadata.name}: ${changed.join(', ')}`;
    }
    case 'patch': {
      const changed = step.changes.map(({ path, to }) => `${path.replace(/^.*\/([a-z-]+)\]$/, '$1')} ${shown(to)}`);
      return `${step.optional === true ? 'try ' : ''}${step.ref.name}: ${changed.join(', ')}`;
    }
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
