/** Volumes that are to grow: what is asked of Kubernetes, what is waited for, and what is said of them. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { blocked, settled, wait } from '../../src/plan/plan.ts';
import {
  awaitingExpansion,
  expansionConditions,
  growthSteps,
  largerVolumes,
  storageStatus,
  walVolumes,
} from '../../src/plan/volume-expansion.ts';
import type { Claim, Pod } from '../../src/resources/children.ts';

interface Volume {
  readonly asked?: string;
  readonly has?: string;
  /** Of the PVC: `TYPE: MESSAGE`. */
  readonly condition?: string;
  readonly state?: string;
}

const failed = { condition: 'ControllerResizeError: no space in the pool' };

function claim(number: number, { asked = '1Gi', has = '1Gi', condition, state }: Volume): Claim {
  const [type = '', message = ''] = condition?.split(': ') ?? [];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: `data-db-${number}`, namespace: 'apps', uid: `uid-${number}`, resourceVersion: '1' },
    spec: { resources: { requests: { storage: asked } } },
    status: {
      ...(has === '' ? {} : { phase: 'Bound', capacity: { storage: has } }),
      ...(condition === undefined ? {} : { conditions: [{ type, status: 'True', message }] }),
      ...(state === undefined ? {} : { allocatedResourceStatuses: { storage: state } }),
    },
  };
}

const claims = (...volumes: readonly Volume[]): Claim[] => volumes.map((volume, i) => claim(i, volume));

function withPods(all: readonly Claim[], without: readonly number[] = []): { claims: readonly Claim[]; pods: Pod[] } {
  const pods = all.flatMap(({ metadata }, i): KubeObject[] =>
    without.includes(i) ? [] : [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: metadata.name.slice(5) } }],
  );
  return { claims: all, pods: pods as Pod[] };
}

const asked = (size: string, all: readonly Claim[]): string[] =>
  growthSteps(size, all).flatMap((step) =>
    step.type === 'patch' ? step.changes.map(({ from, to }) => `${from} -> ${to}`) : [],
  );

describe('a PersistentVolumeClaim', () => {
  it.each<readonly [story: string, size: string, volume: Volume, changes: readonly string[]]>([
    ['is asked to grow', '10Gi', {}, ['1Gi -> 10Gi']],
    ['that asks for as much in other words stays', '1024Mi', {}, []],
    ['that somebody has made larger stays', '1Gi', { asked: '20Gi', has: '20Gi' }, []],
    ['that somebody is making larger stays', '5Gi', { asked: '20Gi' }, []],
    ['that cannot be made larger is taken back with the spec', '5Gi', { asked: '10Gi', ...failed }, ['10Gi -> 5Gi']],
    [
      'that a node cannot make larger is, too',
      '5Gi',
      { asked: '10Gi', state: 'NodeResizeInfeasible' },
      ['10Gi -> 5Gi'],
    ],
    ['is not set to what its volume has, which Kubernetes refuses', '1Gi', { asked: '10Gi', ...failed }, []],
    ['is not set to less than its volume has', '512Mi', { asked: '10Gi', ...failed }, []],
  ])('%s', (_, size, volume, changes) => expect(asked(size, claims(volume))).toEqual(changes));
});

describe('a plan that is settled', () => {
  const outcomeOf = (size: string, all: readonly Claim[], without: readonly number[] = []) =>
    awaitingExpansion({ steps: [], outcome: settled }, size, withPods(all, without)).outcome;

  it('is, where all volumes have what is wanted, or more', () => {
    expect(outcomeOf('1Gi', claims({}, { asked: '20Gi', has: '20Gi' }))).toEqual(settled);
  });

  it('waits for volumes that are smaller, and asks again while they are not asked for', () => {
    const back = 'storage.size is 10Gi, and data-db-0 has 1Gi; storage.size can be set back to 1Gi';
    expect(outcomeOf('10Gi', claims({}))).toEqual(wait('ExpandingVolumes', back, 60_000));
    expect(outcomeOf('10Gi', claims({ asked: '10Gi' }))).toEqual(wait('ExpandingVolumes', back));
  });

  it('cannot take back what one volume has been given', () => {
    const message = 'storage.size is 10Gi, and data-db-0 has 1Gi';
    expect(outcomeOf('10Gi', claims({ asked: '10Gi' }, { asked: '10Gi', has: '10Gi' }))).toEqual(
      wait('ExpandingVolumes', message),
    );
  });

  it('is blocked where Kubernetes has failed', () => {
    expect(outcomeOf('10Gi', claims({ asked: '10Gi', ...failed }))).toEqual(
      blocked(
        'VolumesTooSmall',
        'storage.size is 10Gi, and data-db-0 has 1Gi (expansion failed: no space in the pool); storage.size can be set back to 1Gi',
      ),
    );
  });

  it('waits for no volume that no pod mounts, and for none that is not there yet', () => {
    expect(outcomeOf('10Gi', claims({ has: '10Gi' }, {}), [1])).toEqual(settled);
    expect(outcomeOf('10Gi', claims({ has: '' }))).toEqual(settled);
  });

  it('says nothing where something else is waited for', () => {
    const other = wait('MembersNotReady', 'db-0 does not answer');
    const plan = { steps: [], outcome: other };
    expect(awaitingExpansion(plan, '10Gi', withPods(claims({}))).outcome).toEqual(other);
  });
});

describe('the condition', () => {
  it.each<readonly [story: string, volume: Volume, reasons: readonly string[]]>([
    ['is absent where there is room', { asked: '10Gi', has: '10Gi' }, []],
    ['is there while a volume is smaller', {}, ['ExpansionPending']],
    ['tells that the node is next', { condition: 'FileSystemResizePending: x' }, ['FileSystemResizePending']],
    ['tells that Kubernetes has failed', failed, ['ExpansionFailed']],
    ['tells that it never can', { state: 'ControllerResizeInfeasible' }, ['ExpansionFailed']],
  ])('%s', (_, volume, reasons) => {
    const told = expansionConditions('10Gi', withPods(claims(volume)));
    expect(told.map(({ type, status, reason }) => [type, status, reason])).toEqual(
      reasons.map((reason) => ['VolumesTooSmall', 'True', reason]),
    );
  });
});

describe('what the volumes have', () => {
  it.each<readonly [story: string, volumes: readonly Volume[], status: ReturnType<typeof storageStatus>]>([
    ['is not known while none is bound', [{ has: '' }], undefined],
    ['is that of the smallest', [{ asked: '2Gi', has: '2Gi' }, {}], { capacity: '1Gi', minimumSize: '2Gi' }],
    ['is not what has failed', [{ asked: '9Gi', has: '1Gi' }], { capacity: '1Gi', minimumSize: '1Gi' }],
    ['is not what came without asking', [{ asked: '1Gi', has: '100Gi' }], { capacity: '100Gi', minimumSize: '1Gi' }],
    ['is not told in a form that nobody knows', [{ has: 'much' }], undefined],
  ])('%s', (_, volumes, status) => expect(storageStatus(claims(...volumes))).toEqual(status));

  it('is named where it is more than the spec asks for', () => {
    expect(largerVolumes('1Gi', claims({}, { asked: '1Gi', has: '2Gi' }))).toBeUndefined();
    expect(largerVolumes('1Gi', claims({ asked: '2Gi', has: '2Gi' }), walVolumes)).toMatch(/^walStorage.size is 1Gi, /);
    expect(largerVolumes('1Gi', claims({}, { asked: '2Gi', has: '2Gi' }))).toBe(
      'storage.size is 1Gi, and data-db-1 has 2Gi: volumes never shrink, and nothing is changed',
    );
  });
});
