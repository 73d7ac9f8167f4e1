/** What begins, what is held back, and what never waits. */
import { describe, expect, it } from 'vitest';
import { ignoreLimitAnnotation, maintenanceNowAnnotation, restartAnnotation } from '../../src/api/maintenance.ts';
import { redisKind } from '../../src/engines/redis/kind/schema.ts';
import { blocked, type Plan, settled, wait } from '../../src/plan/plan.ts';
import { gated } from '../../src/plan/rollout-gate.ts';
import { childrenOf } from '../../src/resources/children.ts';
import {
  act,
  archive,
  fingerprint,
  first,
  gateOf,
  image,
  noon,
  other,
  pod,
  pooler,
  printed,
  requested,
  restart,
  type Story,
  secret,
  set,
  template,
  told,
  windows,
  written,
} from '../support/gate-story.ts';

const apply = `apply ${image}`;

describe('a template', () => {
  it.each<readonly [string, Story, string[]]>([
    ['is written where nothing is in the way', {}, [apply, 'asks for a place', 'begins']],
    ['waits for its turn', { isTaken: true }, ['wait WaitingForRollout', 'asks for a place']],
    [
      'waits for its window, and asks for no place before',
      { spec: { maintenance: { windows } } },
      ['wait WaitingForWindow', 'needs no place'],
    ],
    [
      'does not wait for a window that a person does not wait for',
      { spec: { maintenance: { windows } }, annotations: { [maintenanceNowAnnotation]: 'x' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'waits until every pod is ready, and asks for no place before',
      { pods: { 1: 'unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'does not wait for others where a person has said so',
      { isTaken: true, pods: { 1: 'unready' }, annotations: { [ignoreLimitAnnotation]: 'true' } },
      [apply, 'begins'],
    ],
    ['of a new cluster waits for nothing', { isNew: true, isTaken: true, spec: { maintenance: { windows } } }, [apply]],
    ['corrects one that pods have yet to get', { isTaken: true, pods: { 0: 'outdated' } }, [apply]],
    [
      'that others would get that are ready repairs no pod that has long not been able to start',
      { isTaken: true, spec: { maintenance: { windows } }, pods: { 2: 'long stopped' } },
      ['wait WaitingForWindow'],
    ],
    [
      'repairs pods that have not been able to start for long where none is ready, also outside of a window',
      { isTaken: true, spec: { maintenance: { windows } }, pods: { 0: 'unready', 1: 'unready', 2: 'long stopped' } },
      [apply],
    ],
    [
      'repairs a pod that cannot start, at once where a person changes it',
      { isEdited: true, isTaken: true, spec: { maintenance: { windows } }, pods: { 2: 'stopped' } },
      [apply],
    ],
    [
      'is no repair of a pod that cannot start for a moment',
      { spec: { maintenance: { windows } }, pods: { 2: 'stopped' } },
      ['wait WaitingForWindow'],
    ],
    [
      'follows the one that others of the component are getting, also after the end of the window',
      { spec: { maintenance: { windows } }, steps: [other], pods: { 0: 'outdated' } },
      [`apply ${image}`, 'asks for a place', 'begins'],
    ],
    [
      'does not follow the repair of another pod',
      { spec: { maintenance: { windows } }, steps: [other], pods: { 0: 'outdated unready' } },
      ['wait WaitingForWindow'],
    ],
    [
      'does not follow the repair of another pod that has got ready without it',
      { spec: { maintenance: { windows } }, steps: [other], pods: { 0: 'outdated', 1: 'outdated', 2: 'outdated' } },
      ['wait WaitingForWindow'],
    ],
    [
      'waits for the repair of another pod, also where there are no windows',
      { steps: [other], pods: { 0: 'outdated unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'of servers does not follow that of another component',
      { spec: { maintenance: { windows } }, steps: [pooler], pods: { 0: 'outdated' } },
      ['wait WaitingForWindow'],
    ],
    [
      'of the archive waits for nothing: it interrupts no client, and its task is written already',
      { isTaken: true, spec: { maintenance: { windows } }, steps: [archive] },
      [apply, 'needs no place'],
    ],
    [
      'may be what a pod of its own needs that has long been unready, and waits for its turn',
      { pods: { 1: 'long unready' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'waits for a pod of others that is unready, however long',
      { steps: [other], pods: { 1: 'long unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'that only loses fields is one, too',
      { spec: { maintenance: { windows } }, steps: [printed('1-a', '2-b')] },
      ['wait WaitingForWindow', 'needs no place'],
    ],
    [
      'stays where only other fields of the StatefulSet go',
      { isTaken: true, steps: [printed('1-a', '2-a')] },
      [`apply ${fingerprint}`, 'needs no place'],
    ],
    [
      'may lose fields where an earlier operator has written it, and something goes',
      { isTaken: true, steps: [printed('1', '2-b')] },
      ['wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'loses none where an earlier operator has written it, and all is the same',
      { isTaken: true, steps: [printed('1', '1-b')] },
      [`apply ${fingerprint}`, 'needs no place'],
    ],
    [
      'that loses fields together with a request to restart waits for its window',
      {
        spec: { maintenance: { windows } },
        steps: [{ ...requested, changes: [...requested.changes, ...printed('1-a', '2-b').changes] }],
      },
      ['wait WaitingForWindow', 'needs no place'],
    ],
    [
      'without annotations gets the request to restart as its first one',
      { spec: { maintenance: { windows } }, steps: [first] },
      ['apply spec.template.metadata.annotations', 'asks for a place', 'begins'],
    ],
    [
      'repairs a cluster of which nobody is ready, where a person changes it',
      { isEdited: true, isTaken: true, pods: { 0: 'unready', 1: 'unscheduled', 2: 'unready' } },
      [apply],
    ],
    [
      'that somebody else has changed is no repair, while nobody is ready for a moment',
      { isTaken: true, pods: { 0: 'unready', 1: 'unready', 2: 'unready' } },
      ['wait WaitingForRollout'],
    ],
    [
      'repairs a cluster of which nobody has been ready for long',
      { isTaken: true, pods: { 0: 'long unready', 1: 'long unready', 2: 'long unready' } },
      [apply],
    ],
    [
      'may be what a pod needs that finds no node for long, and waits for its turn',
      { pods: { 2: 'long unscheduled' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'is not what a pod needs that has just found no node',
      { spec: { maintenance: { windows } }, pods: { 2: 'unscheduled' } },
      ['wait WaitingForWindow'],
    ],
    [
      'with another Secret repairs a pod that has waited for the present one for long',
      { spec: { maintenance: { windows } }, steps: [written(secret)], pods: { 2: 'long creating' } },
      [`apply ${secret}`],
    ],
    [
      'with another Secret repairs no pod that has just begun to start',
      { spec: { maintenance: { windows } }, steps: [written(secret)], pods: { 2: 'creating' } },
      ['wait WaitingForWindow'],
    ],
    [
      'with another Secret repairs nothing where all pods run',
      { spec: { maintenance: { windows } }, steps: [written(secret)] },
      ['wait WaitingForWindow', 'needs no place'],
    ],
    [
      'without another volume repairs no pod that waits for its Secret or its image',
      { spec: { maintenance: { windows } }, pods: { 2: 'long creating' } },
      ['wait WaitingForWindow'],
    ],
    [
      'waits, and the size that changes with it does not',
      { isTaken: true, steps: [written('spec.replicas', image), act] },
      ['patch spec.replicas', 'ask for something', 'wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'that stays as it is waits for nothing',
      { isTaken: true, steps: [written('spec.replicas')] },
      ['apply spec.replicas', 'needs no place'],
    ],
    [
      'restarts on request outside of a window, and not out of turn',
      {
        spec: { maintenance: { windows } },
        steps: [written(`spec.template.metadata.annotations[${restartAnnotation}]`)],
      },
      [`apply spec.template.metadata.annotations[${restartAnnotation}]`, 'asks for a place', 'begins'],
    ],
    [
      'restarts on request within a window where more has changed',
      {
        spec: { maintenance: { windows } },
        steps: [written(`spec.template.metadata.annotations[${restartAnnotation}]`, image)],
      },
      ['wait WaitingForWindow', 'needs no place'],
    ],
  ])('%s', (_, story, words) => expect(told(story)).toEqual(words));
});

describe('a plan', () => {
  const otherwise: Plan = { steps: [act], outcome: settled };
  it.each<readonly [string, Story, string[]]>([
    [
      'that waits for something else says so',
      { isTaken: true, outcome: wait('X', 'x', 5) },
      ['wait X', 'asks for a place'],
    ],
    [
      'by whose templates nobody would restart waits, and asks for no place',
      { outcome: blocked('VolumesGoing', 'x'), plan: { noRestarts: 'x' } },
      ['blocked VolumesGoing', 'needs no place'],
    ],
    [
      'by whose templates nobody would restart says why, if nothing else is the matter',
      { plan: { noRestarts: 'Patroni is paused' } },
      ['wait WaitingForRollout', 'needs no place'],
    ],
    [
      'by whose templates nobody would restart may be what a pod needs that has long been unready',
      { pods: { 1: 'long unready' }, plan: { noRestarts: 'x' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'by whose templates nobody would restart may be what a pod needs whose process ends, though it is ready in between',
      { pods: { 1: 'ended' }, plan: { noRestarts: 'x' } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'by whose templates nobody would restart waits, if a process has ended an hour ago',
      { pods: { 1: 'ended long ago' }, plan: { noRestarts: 'x' } },
      ['wait WaitingForRollout', 'needs no place'],
    ],
    [
      'by whose templates nobody would restart waits, if a process of others has ended',
      { steps: [other], pods: { 1: 'ended' }, plan: { noRestarts: 'x' } },
      ['wait WaitingForRollout', 'needs no place'],
    ],
    [
      'by whose templates nobody would restart is written where a person has said so',
      { plan: { noRestarts: 'x' }, annotations: { [ignoreLimitAnnotation]: 'true' } },
      [apply, 'begins'],
    ],
    [
      'by whose templates nobody would restart does what it does without them',
      {
        steps: [template, restart],
        outcome: wait('Restarting', 'a server restarts'),
        plan: { noRestarts: 'x', otherwise },
      },
      ['restart a server', 'wait Restarting', 'asks for a place', 'begins'],
    ],
    [
      'by whose templates nobody would restart does both where a person has said so',
      {
        steps: [template, restart],
        outcome: wait('Restarting', 'a server restarts'),
        plan: { noRestarts: 'x', otherwise },
        annotations: { [ignoreLimitAnnotation]: 'true' },
      },
      [apply, 'restart a server', 'wait Restarting', 'begins'],
    ],
    [
      'by whose templates nobody would restart does that in its window, too',
      {
        spec: { maintenance: { windows } },
        steps: [template, restart],
        outcome: wait('Restarting', 'a server restarts'),
        plan: { noRestarts: 'x', otherwise },
      },
      ['ask for something', 'wait WaitingForWindow', 'needs no place'],
    ],
    [
      'by whose templates nobody would restart does not prepare for more',
      { steps: [act], outcome: wait('VersionBackup', 'x'), plan: { noRestarts: 'x', otherwise, prepares: true } },
      ['ask for something', 'wait WaitingForRollout', 'needs no place'],
    ],
    [
      'by whose templates nobody would restart corrects those that pods have yet to get',
      { pods: { 0: 'outdated' }, plan: { noRestarts: 'x' } },
      [apply],
    ],
    ['that is blocked says so', { isTaken: true, outcome: blocked('X', 'x') }, ['blocked X', 'asks for a place']],
    [
      'that a person has confirmed as a whole waits for nothing',
      { isTaken: true, plan: { destructive: true } },
      [apply],
    ],
    [
      'that interrupts somebody is replaced by the other one',
      { isTaken: true, steps: [restart], outcome: wait('Restarting', 'x'), plan: { otherwise } },
      ['ask for something', 'wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'that interrupts somebody waits, also while pods beside the members restart',
      {
        isTaken: true,
        steps: [restart],
        pods: { 1: 'outdated' },
        outcome: wait('Restarting', 'x'),
        plan: { otherwise },
      },
      ['ask for something', 'wait WaitingForRollout', 'asks for a place'],
    ],
    [
      'by which a database works again waits for nothing, and interrupts nobody for something else',
      {
        isTaken: true,
        spec: { maintenance: { windows } },
        plan: { repairs: true, otherwise: { steps: [template], outcome: settled } },
        steps: [template, act],
      },
      [apply],
    ],
    ['of a cluster at rest needs no place', { steps: [] }, ['needs no place']],
    ['of a cluster that is interrupted without a trace keeps it', { steps: [], plan: { isUnderway: true } }, []],
    [
      'that may interrupt somebody, and does not yet, asks for no place: something else comes first',
      { steps: [act], outcome: wait('MembersNotReady', 'x'), plan: { otherwise } },
      ['ask for something', 'wait MembersNotReady', 'needs no place'],
    ],
    [
      'that has begun, and interrupts nobody now, asks for none, and keeps the one that it has',
      { steps: [], pods: { 1: 'outdated' }, outcome: wait('MembersNotReady', 'x'), plan: { otherwise, goesOn: true } },
      ['wait MembersNotReady'],
    ],
    [
      'of servers of which some have yet to restart leaves it at the end of the window',
      { steps: [], spec: { maintenance: { windows } }, plan: { otherwise, isUnderway: true } },
      ['ask for something', 'wait WaitingForWindow', 'needs no place'],
    ],
    [
      'that the database has been told of goes on after the end of the window',
      { spec: { maintenance: { windows } }, plan: { goesOn: true, isUnderway: true } },
      [apply, 'asks for a place', 'begins'],
    ],
    [
      'whose backup is taken keeps it',
      { steps: [act], outcome: wait('VersionBackup', 'x'), plan: { otherwise, prepares: true } },
      ['ask for something', 'wait VersionBackup', 'asks for a place', 'begins'],
    ],
    ['of a cluster that rolls out keeps it', { steps: [], pods: { 1: 'outdated' } }, []],
    [
      'that waits for what interrupts no member ends the request: a change of another day would begin at once',
      {
        steps: [],
        outcome: wait('RoleMissing', 'x'),
        annotations: { [maintenanceNowAnnotation]: 'x' },
        plan: { isIdle: true },
      },
      [`patch metadata.annotations[${maintenanceNowAnnotation}]`, 'wait RoleMissing', 'needs no place'],
    ],
    [
      'that a person has to do something about ends it, too',
      { steps: [], outcome: blocked('X', 'x'), annotations: { [maintenanceNowAnnotation]: 'x' } },
      [`patch metadata.annotations[${maintenanceNowAnnotation}]`, 'blocked X', 'needs no place'],
    ],
    [
      'that goes on by itself when a person has done something does not end it',
      { steps: [], outcome: blocked('X', 'x', 1000), annotations: { [maintenanceNowAnnotation]: 'x' } },
      ['blocked X', 'needs no place'],
    ],
    [
      'that waits for the rehearsal of an upgrade does not end it',
      { steps: [], outcome: wait('Rehearsing', 'x'), annotations: { [maintenanceNowAnnotation]: 'x' } },
      ['wait Rehearsing', 'needs no place'],
    ],
    [
      'without anything to do ends the request',
      { steps: [], annotations: { [maintenanceNowAnnotation]: 'x' } },
      [`patch metadata.annotations[${maintenanceNowAnnotation}]`, 'needs no place'],
    ],
  ])('%s', (_, story, words) => expect(told(story)).toEqual(words));
});

describe('a template that nobody would restart for', () => {
  const also = 'pods restart for the changes after that';
  const atOnce = `at once with the annotation ${ignoreLimitAnnotation}=true`;
  const noRestarts = 'db-1 is copying';
  const otherwise: Plan = { steps: [], outcome: wait('MembersNotReady', noRestarts) };
  it.each<readonly [string, Story, string]>([
    ['says why, and how not to wait', { plan: { noRestarts } }, `${also}: ${noRestarts}; ${atOnce}`],
    [
      'does not repeat what is said',
      { outcome: wait('MembersNotReady', noRestarts), plan: { noRestarts } },
      `${noRestarts}; ${also}; ${atOnce}`,
    ],
    [
      'does not repeat what is said of the plan for the meantime',
      { outcome: wait('Preparing', 'x'), plan: { noRestarts, otherwise } },
      `${noRestarts}; ${also}; ${atOnce}`,
    ],
    [
      'says so beside what goes on without it',
      { steps: [template, restart], outcome: wait('Restarting', 'x'), plan: { noRestarts, otherwise } },
      `x; ${also}: ${noRestarts}; ${atOnce}`,
    ],
  ])('%s', (_, story, expected) => {
    expect(gateOf(story).plan.outcome).toMatchObject({ message: expected });
  });
});

it('says when the window opens, in UTC, and how not to wait', () => {
  const cluster = {
    apiVersion: 'clusterwright.dev/v1alpha1',
    kind: 'RedisCluster',
    metadata: { name: 'db', namespace: 'apps' },
    spec: { maintenance: { windows: [{ start: '22:00', duration: '2h', timeZone: 'Europe/Berlin' }] } },
    status: { initialized: true },
  } as const;
  const children = childrenOf([set, ...[0, 1, 2].map((index) => pod(`db-${index}`))]);
  const facts = { cluster, children, now: noon, resource: redisKind.resource, takePlace: () => undefined };
  expect(gated({ steps: [template], outcome: settled }, facts).plan.outcome).toEqual({
    state: 'wait',
    reason: 'WaitingForWindow',
    message:
      'pods restart for the changes in the maintenance window that opens at 2026-11-29T21:00:00Z; at once with the annotation clusterwright.dev/maintenance-now',
    recheckMs: 9 * 60 * 60 * 1000,
  });
});
