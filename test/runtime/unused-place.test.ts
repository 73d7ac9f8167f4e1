/** A cluster that has its turn to roll out and cannot use it lets the next one go on. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { type Plan, type Step, settled, wait } from '../../src/plan/plan.ts';
import { archiveComponent, componentLabel } from '../../src/resources/metadata.ts';
import { ApiUnreachable } from '../../src/runtime/api-error.ts';
import { noDryRuns, type TemplateJudge } from '../../src/runtime/template-judge.ts';
import { act, reconcilerRig } from '../support/reconciler-rig.ts';
import { testChild, testCluster } from '../support/test-engine.ts';
import { turns } from '../support/virtual-clock.ts';

const forbidden = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'a policy wants another image' });

/** `refused by dry run`: nothing is written. `unanswered`: it may have been. */
type Answer = 'taken' | 'refused' | 'refused by dry run' | 'without effect' | 'unanswered';

/**
 * What is wanted besides the template. `restart`: of a server, which can wait. `pending`: one that nothing is done about yet. `upgrade`: it is what
 * the template brings. `downgrade`: it has begun. `backup`: it comes first.
 */
type Besides =
  | 'nothing'
  | 'restart'
  | 'pending'
  | 'upgrade'
  | 'downgrade'
  | 'record'
  | 'backup'
  | 'backup and archive'
  | 'something that is done anyway';

const changes = [{ path: 'spec.template.spec.containers[db].image', from: 'old', to: 'new' }];

function planOf(besides: Besides, template: Extract<Step, { type: 'apply' }>): { plan: Plan; otherwise?: Plan } {
  const plan: Plan = { steps: [template], outcome: settled };
  switch (besides) {
    case 'nothing':
      return { plan };
    case 'restart':
      return { plan: { ...plan, steps: [template, act], isUnfinished: true }, otherwise: { ...plan, steps: [] } };
    case 'pending':
      return { plan: { ...plan, isUnfinished: true, outcome: wait('MembersNotReady', 'x') } };
    case 'upgrade':
      return { plan, otherwise: { ...plan, steps: [] } };
    case 'downgrade':
      return { plan: { ...plan, isUnderway: true } };
    case 'record': {
      const record = { ...template, interrupts: true as const, changes: [{ path: 'metadata.annotations', to: {} }] };
      return { plan: { ...plan, steps: [record] }, otherwise: { ...plan, steps: [] } };
    }
    case 'backup and archive': {
      const metadata = { ...template.object.metadata, labels: { [componentLabel]: archiveComponent } };
      const archive = { ...template, object: { ...template.object, metadata } };
      return {
        plan: { steps: [archive], prepares: true, outcome: wait('VersionBackup', 'x') },
        otherwise: { ...plan, steps: [] },
      };
    }
    case 'backup':
      return {
        plan: { steps: [], prepares: true, outcome: wait('VersionBackup', 'x') },
        otherwise: { ...plan, steps: [] },
      };
    case 'something that is done anyway':
      return { plan: { ...plan, steps: [template, act] }, otherwise: { ...plan, steps: [act] } };
    default:
      return besides satisfies never;
  }
}

const refusing: TemplateJudge = {
  judge: async ({ steps }) => ({
    obstacles: [{ steps: steps.filter(({ type }) => type === 'apply'), outcome: wait('TemplateRefused', 'x') }],
    unjudged: undefined,
  }),
};

/** What the cluster has done with its place after a reconcile that writes a template, which the API server answers so. */
async function afterPass(answer: Answer, besides: Besides): Promise<string[]> {
  const said: string[] = [];
  // Who has used it keeps it, and one that has ended cannot be given back.
  const isKept = (): boolean => said.includes('uses it') || said.includes('ends it');
  const giveBack = (): void => void (isKept() || said.push('gives it back'));
  const rollouts = {
    take: () => void said.push('takes it'),
    begun: () => void said.push('uses it'),
    isUnderway: () => void said.push('has one'),
    giveBack,
    leave: giveBack,
    release: () => void said.push('ends it'),
    isAwaited: () => false,
  };
  const cluster: KubeObject = { ...testCluster('db'), status: { initialized: true } };
  const judge = answer === 'refused by dry run' ? refusing : noDryRuns;
  const rig = await reconcilerRig([cluster], undefined, judge, undefined, rollouts);
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const setOf = (image: string): KubeObject => ({
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
    spec: { replicas: 0, template: { spec: { containers: [{ name: 'db', image }] } } },
  });
  const before = rig.api.put({
    ...setOf('old'),
    metadata: { ...metadata, generation: 1 },
    spec: { ...(setOf('old').spec as object), replicas: 1 },
    status: { observedGeneration: 1, updateRevision: 'one' },
  });
  const pod = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  rig.api.put({
    ...{
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...metadata,
        name: `${metadata.name}-0`,
        labels: { ...metadata.labels, 'controller-revision-hash': 'one' },
      },
    },
    status: pod,
  });
  await turns();
  rig.api.intercept = ({ headers }) => {
    if (headers?.['content-type'] !== 'application/apply-patch+yaml') return undefined;
    switch (answer) {
      case 'refused':
        return Promise.resolve({ status: 403, headers: {}, body: forbidden });
      case 'without effect':
        return Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(before) });
      case 'unanswered':
        return Promise.reject(new ApiUnreachable('PATCH', '/', true, new Error('read ECONNRESET')));
      default:
        return undefined;
    }
  };
  rig.engine.find = () => planOf(besides, { type: 'apply', object: setOf('new'), changes });
  const passing = rig.pass().catch(() => undefined);
  await rig.clock.advance(60_000);
  await passing;
  await rig.stop();
  return [...new Set(said)];
}

it.each<readonly [string, Answer, Besides, string[]]>([
  ['keeps the place for a template that is written', 'taken', 'nothing', ['takes it', 'uses it']],
  ['ends it where the template is refused', 'refused', 'nothing', ['takes it', 'ends it']],
  // Also one that an earlier template of the same rollout has used.
  ['ends it at rest where a dry run refuses the template', 'refused by dry run', 'nothing', ['takes it', 'ends it']],
  ['and where the template is changed back at once', 'without effect', 'nothing', ['takes it', 'ends it']],
  ['keeps it where nobody has answered for the template', 'unanswered', 'nothing', ['takes it', 'uses it']],
  [
    'keeps it while servers restart, though a template is refused',
    'refused by dry run',
    'restart',
    ['takes it', 'uses it'],
  ],
  ['or changed back', 'without effect', 'restart', ['takes it', 'uses it']],
  [
    'gives it back where servers have yet to restart, and none is told to',
    'without effect',
    'pending',
    ['takes it', 'gives it back'],
  ],
  [
    'ends it where the template that begins an upgrade is changed back',
    'without effect',
    'upgrade',
    ['takes it', 'ends it'],
  ],
  ['keeps it where nobody has answered for the record of an upgrade', 'unanswered', 'record', ['takes it', 'uses it']],
  ['has one before it asks, if its downgrade has begun', 'taken', 'downgrade', ['has one', 'takes it', 'uses it']],
  ['keeps it while the backup before an upgrade is at work', 'taken', 'backup', ['takes it']],
  ['also where the template of the archive is refused', 'refused by dry run', 'backup and archive', ['takes it']],
  [
    'ends it where nothing is done but what is done while it waits, too',
    'refused by dry run',
    'something that is done anyway',
    ['takes it', 'ends it'],
  ],
])('a cluster %s', async (_, answer, besides, expected) => {
  expect(await afterPass(answer, besides)).toEqual(expected);
});

it('a cluster of which nothing can be planned gives it back', async () => {
  const said: string[] = [];
  const rollouts = {
    take: () => undefined,
    begun: () => undefined,
    isUnderway: () => undefined,
    giveBack: () => void said.push('gives it back'),
    leave: () => undefined,
    release: () => undefined,
    isAwaited: () => false,
  };
  const cluster = { ...testCluster('db', { replicas: 'many' }), status: { initialized: true } };
  const rig = await reconcilerRig([cluster], undefined, noDryRuns, undefined, rollouts);
  await rig.pass();
  await rig.stop();
  expect(said).toEqual(['gives it back']);
});
