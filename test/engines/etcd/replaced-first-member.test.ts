/** The first member has been replaced: the roster has 1, 2 and 3, and a spec alone tells of 0, 1 and 2. */
import { expect, it } from 'vitest';
import { accessOf } from '../../../src/engine/access-of.ts';
import { claimName, memberName, podName } from '../../../src/engines/etcd/names.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { etcdStatus } from '../../../src/engines/etcd/status.ts';
import { passPlan } from '../../../src/plan/pass.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { accessComponent, componentLabel } from '../../../src/resources/metadata.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import { isReady } from '../../../src/runtime/refused-wish.ts';
import { saidStatus } from '../../../src/runtime/report.ts';
import { goingIn } from '../../../src/runtime/unmade.ts';
import { etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';
import { handlers } from '../../support/handlers.ts';

const handler = handlers.find(({ kind }) => kind.resource.kind === 'EtcdCluster');
if (handler === undefined) throw new Error('no etcd');
const { resource } = handler.kind;

it('the StatefulSet of its successor is not deleted for being labelled access', () => {
  const { cluster, children, observed } = etcdWorld({
    numbers: [1, 2, 3],
    leader: 1,
    children: (objects) =>
      objects.map((object) => {
        const { kind, metadata } = object;
        if (kind !== 'StatefulSet' || metadata.name !== memberName('db', 3)) return object;
        return {
          ...object,
          metadata: { ...metadata, labels: { ...metadata.labels, [componentLabel]: accessComponent } },
        };
      }),
  });
  const engine = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  expect(engine.steps.map(describeStep)).toEqual(['update StatefulSet db-3']);
  const { steps } = passPlan(cluster, { resource, children, access: accessOf(handler, cluster) }, engine);
  expect(steps.map(describeStep)).toEqual(['update StatefulSet db-3']);
});

it('a cluster that was restored is Ready while pod and claim of that member stay on a lost node', () => {
  const restore = { cluster: { name: 'old' }, target: { claim: { name: 'a' } } };
  const spec: Story['spec'] = { deletionPolicy: 'Delete', bootstrap: { restore } };
  const lost = etcdWorld({
    spec,
    numbers: [0, 1, 2, 3],
    leader: 1,
    members: { 0: 'unlisted' },
    claims: { 0: 'going' },
    pods: { 0: { terminatingForMs: 600_000 } },
  });
  const names = [claimName('db', 0), podName('db', 0)];
  const left = lost.children.objects.filter(({ metadata }) => names.includes(metadata.name));
  expect(left.map(({ kind, metadata }) => `${kind} ${metadata.deletionTimestamp !== undefined}`)).toEqual([
    'Pod true',
    'PersistentVolumeClaim true',
  ]);
  const { cluster, children: whole, observed } = etcdWorld({ spec, numbers: [1, 2, 3], leader: 1 });
  const children = childrenOf([...whole.objects, ...left]);
  const situation = situationOf(cluster, children, observed);
  const engine = planEtcd(situation, takesEtcdBackup);
  const access = accessOf(handler, cluster);
  const plan = passPlan(cluster, { resource, children, access }, engine);
  const status = etcdStatus(situation, engine);
  expect([plan.outcome.state, isReady(status)]).toEqual(['settled', true]);
  const nothing = {
    due: { steps: [], held: [], kept: [], unreached: [], undone: [] },
    done: [],
    failure: undefined,
    earlier: undefined,
    failures: [],
    ineffective: [],
  };
  const going = goingIn(cluster, children, access);
  const { phase, conditions } = saidStatus(cluster, status, plan, nothing, undefined, going);
  expect(`${phase}, ${conditions.find(({ type }) => type === 'Ready')?.message}`).toMatch(/^Ready, /);
});
