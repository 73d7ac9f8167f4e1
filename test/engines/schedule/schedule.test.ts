/** A schedule: what Kubernetes is told, and what is said of runs that nobody of us has watched. */

import { describe, expect, it } from 'vitest';
import type { ScheduleStatus } from '../../../src/api/backup-status.ts';
import { mergeConditions } from '../../../src/api/condition.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { AgentResult } from '../../../src/backup/agent-result.ts';
import { parseAgentTask } from '../../../src/backup/agent-task.ts';
import { drivers } from '../../../src/engines/drivers.ts';
import { fingerprinted } from '../../../src/plan/difference.ts';
import { childrenOf } from '../../../src/resources/children.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import { db, engineOf, jobOf, refused, resourceOf, taken, target, timeOnly } from '../../support/backup-story.ts';

const engine = engineOf('BackupSchedule');
const spec = {
  cluster: { kind: 'RedisCluster', name: 'db' },
  schedule: '0 3 * * *',
  jitter: '30s',
  retention: { count: 5, age: '30d' },
  target,
};
const scheduleWith = (more: object = {}, status?: ScheduleStatus) =>
  resourceOf('BackupSchedule', 'nightly', { ...spec, ...more }, status);
const wanted = engine.resources(scheduleWith(), db).map(({ object }) => object) as [KubeObject, KubeObject];
const [config, cronJob] = wanted;
const stored = wanted.map(fingerprinted);
/** The run of a day of November. */
const run = (day: number) => `schedule-nightly-${Date.UTC(2026, 10, day, 3) / 60_000}`;

/** The text of the task that the agent gets. */
function taskIn([task]: readonly { readonly object: KubeObject }[]): string {
  const data = (task?.object.data ?? {}) as Readonly<Record<string, string>>;
  return data['task.json'] ?? '';
}

interface Look {
  readonly more?: object;
  readonly status?: ScheduleStatus;
  readonly objects?: readonly KubeObject[];
  readonly now?: string;
  readonly cluster?: boolean;
}

async function look({ more = {}, status, objects = stored, now = '2026-11-21T03:05:00Z', cluster = true }: Look) {
  const schedule = scheduleWith(more, status);
  const assessment = await engine.assess(schedule, childrenOf(objects), timeOnly(now), cluster ? db : undefined);
  const said = assessment.status as ScheduleStatus;
  const ready = said.conditions?.find(({ type }) => type === 'Ready');
  return { steps: assessment.plan.steps.map(describeStep), phase: said.phase, reason: ready?.reason, said };
}

describe('a BackupSchedule', () => {
  it('is a CronJob that never runs twice at once, and a task with what is kept', () => {
    expect(cronJob.spec).toMatchObject({
      schedule: '0 3 * * *',
      timeZone: 'Etc/UTC',
      startingDeadlineSeconds: 600,
      suspend: false,
      concurrencyPolicy: 'Forbid',
    });
    expect(parseAgentTask((config.data as Record<string, string>)['task.json'] ?? '', drivers)).toMatchObject({
      purpose: { type: 'schedule', name: 'nightly' },
      retention: { count: 5, ageSeconds: 30 * 86_400 },
      jitterSeconds: 30,
    });
  });

  it.each([
    [
      { count: 5, age: '12h' },
      { count: 5, ageSeconds: 12 * 3600 },
    ],
    [{ count: 5 }, { count: 5 }],
  ])('keeps %j of its own backups', (retention, told) => {
    const text = taskIn(engine.resources(scheduleWith({ retention }), db));
    expect(parseAgentTask(text, drivers)).toMatchObject({ retention: told });
    expect(Object.keys((JSON.parse(text) as { readonly retention: object }).retention)).toEqual(Object.keys(told));
  });

  it('asks the members of the cluster that it names, of whichever kind', () => {
    const cluster = { kind: 'EtcdCluster', name: 'db' };
    const schedule = scheduleWith({ cluster });
    expect(engine.targetRef?.(schedule)).toEqual(cluster);
    const text = taskIn(engine.resources(schedule, resourceOf('EtcdCluster', 'db', {})));
    expect(parseAgentTask(text, drivers)).toMatchObject({
      cluster: { kind: 'EtcdCluster' },
      source: { engine: 'etcd' },
    });
  });

  it('is nothing as long as its cluster is not there, and the plan says so without a cluster to ask', () => {
    const [there, alone] = [engine.planOffline(scheduleWith(), db), engine.planOffline(scheduleWith(), undefined)];
    expect(engine.resources(scheduleWith(), undefined)).toEqual([]);
    expect(there.steps.map(describeStep)).toEqual([
      'create ConfigMap schedule-nightly-task',
      'create CronJob schedule-nightly',
    ]);
    expect(alone).toMatchObject({ steps: [], outcome: { reason: 'ClusterMissing' } });
    // Nothing that cannot be backed up is asked for its members.
    expect(engine.resources(scheduleWith(), { ...db, kind: 'Backup' })).toEqual([]);
  });

  it('may write what it makes, and watch the runs', () => {
    const writes = (resource: string): boolean =>
      engine.permissions.some(({ resources, verbs }) => resources.includes(resource) && verbs.includes('patch'));
    expect(['cronjobs', 'configmaps'].map(writes)).toEqual([true, true]);
  });

  it('makes both, and changes what differs', async () => {
    expect((await look({ objects: [] })).steps).toEqual([
      'create ConfigMap schedule-nightly-task',
      'create CronJob schedule-nightly',
    ]);
    expect((await look({})).steps).toEqual([]);
    expect((await look({ more: { suspend: true } })).steps).toEqual(['update CronJob schedule-nightly']);
  });

  it('of a kind that this operator does not back up says so', async () => {
    const cluster = { kind: 'KafkaCluster', name: 'db' };
    const { plan, status } = await engine.assess(scheduleWith({ cluster }), childrenOf([]), timeOnly(), undefined);
    expect(plan).toMatchObject({ steps: [], outcome: { state: 'blocked', reason: 'UnknownKind' } });
    expect(status).toMatchObject({
      conditions: [{ type: 'Ready', status: 'False', reason: 'UnknownKind' }, {}, {}, {}],
    });
  });

  it('makes nothing without its cluster, and takes away nothing that is there', async () => {
    expect(await look({ cluster: false })).toMatchObject({ steps: [], phase: 'Degraded', reason: 'ClusterMissing' });
  });

  describe('whose last backup holds suddenly little', () => {
    const less = { ...taken, suddenLoss: 'it holds no keys, and X held 3 keys' } as AgentResult;
    const id = '20261121T030000Z-0123abcd';
    const objects = [
      ...stored,
      ...jobOf(cronJob, 'complete', taken, run(20)),
      ...jobOf(cronJob, 'complete', less, run(21)),
    ];

    it('says so, what stands still, and how a person confirms it', async () => {
      const { phase, reason, said } = await look({ objects });
      expect({ phase, reason }).toEqual({ phase: 'Degraded', reason: 'SuddenLoss' });
      expect(said.conditions?.find(({ type }) => type === 'Degraded')).toMatchObject({
        status: 'True',
        message: `of the last backup, ${id}, it holds no keys, and X held 3 keys: no backup is deleted until one holds data again; if this is as it should be, annotate this BackupSchedule with clusterwright.dev/confirmed-backup=${id}`,
      });
      expect(said.lastSuccess).toMatchObject({ id, suddenLoss: 'it holds no keys, and X held 3 keys' });
      expect(await look({ status: said })).toMatchObject({ phase: 'Degraded', reason: 'SuddenLoss' });
    });

    it('is well again after one that holds data', async () => {
      const more = jobOf(cronJob, 'complete', taken, run(22));
      expect(await look({ objects: [...objects, ...more], now: '2026-11-22T03:05:00Z' })).toMatchObject({
        phase: 'Active',
      });
    });

    it('is well again once a person has confirmed it, and tells the agent', async () => {
      const schedule = scheduleWith();
      const confirmed = (value: string) => ({
        ...schedule,
        metadata: { ...schedule.metadata, annotations: { 'clusterwright.dev/confirmed-backup': value } },
      });
      const assessment = await engine.assess(confirmed(id), childrenOf(objects), timeOnly('2026-11-21T03:05:00Z'), db);
      expect(assessment.status.phase).toBe('Active');
      expect(assessment.plan.steps.map(describeStep)).toEqual(['update ConfigMap schedule-nightly-task']);
      const taskOf = (value: string) => {
        return parseAgentTask(taskIn(engine.resources(confirmed(value), db)), drivers);
      };
      expect(taskOf(id)).toMatchObject({ confirmed: id });
      expect(taskOf('yes')).not.toHaveProperty('confirmed');
    });
  });

  it('catches up with the runs that nobody watched', async () => {
    const objects = [
      ...stored,
      ...jobOf(cronJob, 'failed', refused('no such bucket'), run(20)),
      ...jobOf(cronJob, 'complete', taken, run(21)),
    ];
    const { phase, said } = await look({ objects });
    expect(phase).toBe('Active');
    expect(said.results?.map(({ job, outcome }) => [job, outcome])).toEqual([
      [run(21), 'Verified'],
      [run(20), 'Failed'],
    ]);
    expect(said.lastSuccess).toMatchObject({ job: run(21), id: '20261121T030000Z-0123abcd' });
    expect(said.lastFailure).toMatchObject({ job: run(20), message: 'no such bucket' });
  });

  it('keeps what a run came to when its pod is gone, and what could not be said of it then', async () => {
    const misleadingIds = 'A was taken before B, by a clock that was ahead';
    const said1 = { ...taken, misleadingIds } as AgentResult;
    const [job, pod] = jobOf(cronJob, 'complete', said1, run(21)) as [KubeObject, KubeObject];
    const before = (await look({ objects: [...stored, job, pod] })).said;
    expect(before.results).toMatchObject([{ job: run(21), id: '20261121T030000Z-0123abcd', message: misleadingIds }]);
    const { said } = await look({ status: before, objects: [...stored, job] });
    expect(said.results).toEqual(before.results);
    // Another run's words are none of its own.
    const [other] = jobOf(cronJob, 'complete', undefined, run(20)) as [KubeObject];
    const both = (await look({ status: before, objects: [...stored, other] })).said;
    expect(both.results).toEqual([...(before.results ?? []), { job: run(20), outcome: 'Verified' }]);
  });

  it('remembers so many runs that a status stays short', async () => {
    const days = Array.from({ length: 20 }, (_, i) => i + 1);
    const objects = days.flatMap((day) => jobOf(cronJob, 'complete', taken, run(day)));
    const { said } = await look({ objects: [...stored, ...objects] });
    expect(said.results?.length).toBeLessThan(20);
    expect(said.results?.[0]?.job).toBe(run(20));
  });

  it('says when the last run was due, also once its CronJob is made anew', async () => {
    const lastScheduleTime = '2026-11-21T03:00:00Z';
    const ran = stored.map((object) =>
      object.kind === 'CronJob' ? { ...object, status: { lastScheduleTime } } : object,
    );
    const { said } = await look({ objects: ran, now: '2026-11-21T12:00:00Z' });
    expect(said).toMatchObject({ phase: 'Active', lastScheduledAt: lastScheduleTime });
    expect((await look({ status: said })).said.lastScheduledAt).toBe(lastScheduleTime);
    expect((await look({})).said).not.toHaveProperty('lastScheduledAt');
  });

  it('remembers runs whose Jobs are gone', async () => {
    const before = (await look({ objects: [...stored, ...jobOf(cronJob, 'complete', taken, run(20))] })).said;
    const { said } = await look({
      status: before,
      objects: [...stored, ...jobOf(cronJob, 'failed', refused('full'), run(21))],
    });
    expect(said.results?.map(({ job }) => job)).toEqual([run(21), run(20)]);
    expect(said.lastSuccess?.job).toBe(run(20));
  });

  it('takes a run that somebody has begun by hand for what it is: the newest', async () => {
    const failed = jobOf(cronJob, 'failed', refused('full'), run(20));
    const byHand = jobOf(cronJob, 'complete', taken, 'by-hand-1');
    expect(await look({ objects: [...stored, ...failed, ...byHand] })).toMatchObject({
      phase: 'Active',
      said: { results: [{ job: 'by-hand-1' }, { job: run(20) }] },
    });
    const [job, ...pods] = jobOf(cronJob, 'failed', refused('full'), 'by-hand-2');
    const later = { ...job, metadata: { ...job?.metadata, creationTimestamp: '2026-11-21T04:00:00Z' } } as KubeObject;
    const { said } = await look({ objects: [...stored, ...byHand, later, ...pods] });
    expect(said.results?.map(({ job: name }) => name)).toEqual(['by-hand-2', 'by-hand-1']);
    // Nor when its Job is gone.
    const remembered = await look({ status: said, objects: [...stored, ...failed] });
    expect(remembered.said.results?.map(({ job: name }) => name)).toEqual(['by-hand-2', 'by-hand-1', run(20)]);
  });

  it.each(['1795143600', '1795143600000', '202611200340', '29800'])(
    'does not take the number in a name that somebody has made up for a time: by-hand-%s',
    async (number) => {
      const byHand = {
        ...taken,
        backup: { ...(taken as { backup: object }).backup, startedAt: '2026-11-20T03:40:00Z' },
      };
      const nightly = jobOf(cronJob, 'complete', taken, run(20));
      const objects = [
        ...stored,
        ...nightly,
        ...jobOf(cronJob, 'complete', byHand as AgentResult, `by-hand-${number}`),
      ];
      const failed = jobOf(cronJob, 'failed', refused('full'), run(21)).map((object) => ({
        ...object,
        metadata: { ...object.metadata, creationTimestamp: '2026-11-21T03:00:00Z' },
      }));
      const { reason, said } = await look({ objects: [...objects, ...failed] });
      expect([reason, said.results?.map(({ job }) => job)]).toEqual([
        'RunFailed',
        [run(21), `by-hand-${number}`, run(20)],
      ]);
      // Nor are those that do not begin any more hidden by it.
      expect((await look({ objects, status: { phase: 'Active' } })).reason).toBe('Scheduled');
      const later = await look({ objects, status: { phase: 'Active' }, now: '2026-11-22T03:30:00Z' });
      expect(later.reason).toBe('RunOverdue');
    },
  );

  it('says what kept retention from its work', async () => {
    const doubt = { ...taken, retentionFailure: 'the clocks are apart' } as AgentResult;
    const { phase, said } = await look({ objects: [...stored, ...jobOf(cronJob, 'complete', doubt, run(21))] });
    expect([phase, said.results?.[0]?.outcome]).toEqual(['Active', 'Verified']);
    expect(said.results?.[0]?.message).toBe('nothing was let go: the clocks are apart');
  });

  it('is degraded by a run that failed, until one succeeds', async () => {
    const failed = jobOf(cronJob, 'failed', refused('full'), run(20));
    const degraded = await look({ objects: [...stored, ...failed] });
    expect(degraded).toMatchObject({ phase: 'Degraded', reason: 'RunFailed' });
    expect(degraded.said.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', message: `the last run (${run(20)}) failed: full` }),
    );
    const healed = [...stored, ...failed, ...jobOf(cronJob, 'complete', taken, run(21))];
    const active = await look({ objects: healed });
    expect(active).toMatchObject({ phase: 'Active' });
    expect(active.said.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Ready',
        message: expect.stringMatching(`^the last run \\(${run(21)}\\) was verified`),
      }),
    );
    expect((await look({ now: '2026-11-20T01:00:00Z' })).said.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', message: 'no run has ended yet' }),
    );
  });

  it.each([
    ['within the deadline', '2026-11-21T03:05:00Z', {}, 'Active'],
    ['after the deadline', '2026-11-21T03:12:00Z', {}, 'Degraded'],
    ['after the deadline, while suspended', '2026-11-21T03:12:00Z', { suspend: true }, 'Suspended'],
  ])('a run that has not begun %s', async (_, now, more, phase) => {
    const status: ScheduleStatus = { phase: 'Active', lastScheduledAt: '2026-11-20T03:00:00Z' };
    expect(await look({ now, more, status })).toMatchObject({ phase });
  });

  it('says which run is in the way of one that is overdue', async () => {
    const [job, pod] = jobOf(cronJob, 'running', undefined, run(20)) as [KubeObject, KubeObject];
    const deletionTimestamp = '2026-11-20T03:06:00Z';
    const going = { ...pod, metadata: { ...pod.metadata, deletionTimestamp }, spec: { nodeName: 'node-3' } };
    const status: ScheduleStatus = { phase: 'Active', lastScheduledAt: '2026-11-20T03:00:00Z' };
    const { reason, said } = await look({ now: '2026-11-21T03:12:00Z', status, objects: [...stored, job, going] });
    expect(reason).toBe('RunOverdue');
    expect(said.conditions?.find(({ type }) => type === 'Ready')?.message).toMatch(
      new RegExp(
        `^the run of 2026-11-21T03:00:00Z has not begun: ${run(20)} has not ended: .* is terminating, .* node-3`,
      ),
    );
  });

  it('says that a run is overdue until one begins, whatever it has said itself', async () => {
    let status: ScheduleStatus = { phase: 'Active', lastScheduledAt: '2026-11-20T03:00:00Z' };
    const heard = [];
    for (const now of [
      '2026-11-21T03:12:00Z',
      '2026-11-21T03:25:00Z',
      '2026-11-21T03:38:00Z',
      '2026-11-21T15:00:00Z',
    ]) {
      const { reason, said } = await look({ now, status });
      status = { ...said, conditions: mergeConditions(status.conditions ?? [], said.conditions ?? [], 1, now) };
      heard.push(reason);
    }
    expect(heard).toEqual(Array.from({ length: 4 }, () => 'RunOverdue'));
    const lastScheduledAt = '2026-11-21T15:01:00Z';
    expect(await look({ now: '2026-11-21T15:02:00Z', status: { ...status, lastScheduledAt } })).toMatchObject({
      phase: 'Active',
    });
  });

  it.each([
    ['just before it was', '03:10:00', 'Active'],
    ['just before it was, long ago', '02:59:59', 'Degraded'],
  ])('a run that was due while the schedule could not run, and it can again %s', async (_, time, phase) => {
    const [reason, message] = ['ClusterMissing', 'there is no RedisCluster db in this namespace'];
    const lastTransitionTime = `2026-11-21T${time}Z`;
    const status: ScheduleStatus = {
      phase: 'Degraded',
      lastScheduledAt: '2026-11-20T03:00:00Z',
      conditions: [
        {
          type: 'Degraded',
          status: 'True',
          reason,
          message,
          observedGeneration: 1,
          lastTransitionTime: '2026-11-21T03:11:00Z',
        },
        { type: 'Ready', status: 'False', reason, message, observedGeneration: 1, lastTransitionTime },
      ],
    };
    expect(await look({ now: '2026-11-21T03:12:00Z', status })).toMatchObject({ phase });
    // Where it could run all the time, since when it is well says nothing.
    const well: ScheduleStatus = { ...status, phase: 'Active' };
    expect(await look({ now: '2026-11-21T03:12:00Z', status: well })).toMatchObject({ phase: 'Degraded' });
  });

  it('is not overdue for what was due before it was made, or while it was suspended', async () => {
    expect(await look({ now: '2026-11-20T01:00:00Z' })).toMatchObject({ phase: 'Active' });
    let status: ScheduleStatus = { phase: 'Suspended', lastScheduledAt: '2026-11-01T03:00:00Z' };
    const heard = [];
    for (const now of [
      '2026-11-21T12:00:00.123Z',
      '2026-11-21T12:10:00Z',
      '2026-11-22T03:05:00Z',
      '2026-11-22T03:12:00Z',
    ]) {
      const { reason, said } = await look({ now, status });
      status = { ...said, conditions: mergeConditions(status.conditions ?? [], said.conditions ?? [], 1, now) };
      heard.push(reason);
    }
    expect(heard).toEqual(['Scheduled', 'Scheduled', 'Scheduled', 'RunOverdue']);
    expect(status.resumedAt).toBe('2026-11-21T12:00:00Z');
  });
});
