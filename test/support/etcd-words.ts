/** A plan of etcd as short lines: what a row of a table compares. */

import type { Issue } from '../../src/certificates/issue.ts';
import type { EtcdAction } from '../../src/engines/etcd/action.ts';
import { etcdBackup } from '../../src/engines/etcd/backup/support.ts';
import { situationOf } from '../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../src/engines/etcd/plan/plan.ts';
import { etcdStatus } from '../../src/engines/etcd/status.ts';
import { backupFactory } from '../../src/jobs/required-backup.ts';
import type { Outcome, Plan, Step } from '../../src/plan/plan.ts';
import { etcdWorld, type Story } from './etcd-situation.ts';
import { coherent } from './truthful-engine.ts';

/** With an agent of no particular image. */
export const takesEtcdBackup = backupFactory({ name: 'etcd', backup: etcdBackup }, 'agent:test');

/**
 * The steps in order, then the outcome: `['add 3', 'wait ScalingOut']`. What is said in that situation is looked at for
 * contradictions on the way.
 */
export function planned(story: Story): string[] {
  const { cluster, children, observed } = etcdWorld(story);
  const plan = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  coherent(etcdStatus(situationOf(cluster, children, observed), plan));
  return words(plan);
}

export function words(plan: Plan<EtcdAction>): string[] {
  return [...plan.steps.map(stepWords), outcomeWords(plan.outcome)];
}

function issueDetail(issue: Issue): string {
  if (issue.what === 'copy') return ` ${issue.part}`;
  return issue.what === 'leaf' && !issue.renew ? ' kept' : '';
}

function outcomeWords(outcome: Outcome): string {
  return outcome.state === 'settled' ? 'settled' : `${outcome.state} ${outcome.reason}`;
}

/** The number of the member that has this one in etcd, in the worlds of `etcd-situation.ts`. */
const numberOf = (id: string): number => Number(id) - 1;

export function actionWords(action: EtcdAction): string {
  switch (action.type) {
    case 'etcd.addLearner':
      return `add ${action.index}`;
    case 'etcd.promote':
      return `promote ${numberOf(action.memberId)}`;
    case 'etcd.removeMember':
      return `remove ${numberOf(action.memberId)}`;
    case 'etcd.moveLeader':
      return `lead ${action.via.pod} -> ${numberOf(action.to)}`;
    case 'etcd.compact':
      return `compact ${action.revision} on ${action.members.map(({ pod }) => pod).join(' ')}`;
    case 'etcd.defragment':
      return `defragment ${action.member.pod}`;
    case 'etcd.disarm':
      return `disarm ${numberOf(action.memberId)} ${action.alarm}`;
    case 'etcd.enableDowngrade':
      return `enableDowngrade ${action.target}`;
    case 'etcd.cancelDowngrade':
    case 'etcd.enableAuth':
    case 'etcd.disableAuth':
    case 'etcd.changePassword':
      return action.type.slice('etcd.'.length);
    default:
      return action satisfies never;
  }
}

const shown = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

function stepWords(step: Step<EtcdAction>): string {
  switch (step.type) {
    case 'create':
      return `${step.optional === true ? 'try ' : ''}create ${step.object.kind} ${step.object.metadata.name}`;
    case 'issue':
      return `issue ${step.object.metadata.name}: ${step.issue.what}${issueDetail(step.issue)}`;
    case 'apply': {
      const changes = step.changes.filter(({ path }) => !path.includes('clusterwright.dev/desired'));
      const words = changes.map(({ path, to }) => (/^data\[/.test(path) ? `${path.slice(5, -1)}=${shown(to)}` : path));
      return `${step.optional === true ? 'try ' : ''}apply ${step.object.kind} ${step.object.metadata.name}: ${words.join(', ')}`;
    }
    case 'patch':
      return `${step.optional === true ? 'try ' : ''}${step.ref.name}: ${step.changes
        .map(({ path, to }) => `${path.replace(/^.*\/([a-z-]+)\]$/, '$1')} ${shown(to)}`)
        .join(', ')}`;
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

/** What a plan does about the version: templates by whose they are, and no labels of other objects. */
export function versionWords(lines: readonly string[]): string[] {
  const label = 'metadata.labels[app.kubernetes.io/version]';
  return lines.flatMap((line) => {
    if (line.includes(`template.${label}`)) return [line.replace(/^apply StatefulSet (.*?):.*$/, 'template $1')];
    return line.startsWith('apply') && line.endsWith(`: ${label}`) ? [] : [line];
  });
}

/** A story, the situation that it tells of, and the plan for it. */
export type PlanRow = readonly [story: string, situation: Story, plan: readonly string[]];
