/** What a person asks for with annotations, and what of the spec PostgreSQL refuses. */
import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { forecastPostgres } from '../../../src/engines/postgres/plan/forecast.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { specWarnings } from '../../../src/engines/postgres/plan/warnings.ts';
import { postgresStatus } from '../../../src/engines/postgres/status.ts';
import { settled } from '../../../src/plan/plan.ts';
import { now, postgresCluster, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const noted = (annotation: string, value: string, story: Story = {}): Story => ({
  ...story,
  metadata: { annotations: { [`clusterwright.dev/${annotation}`]: value } },
});
const messageOf = (story: Story): string => {
  const { cluster, children, observed } = postgresWorld(story);
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  return outcome.state === 'settled' ? '' : outcome.message;
};

describe('switchover-to', () => {
  const to = (pod: string, story?: Story) => noted('switchover-to', pod, story);
  table([
    ['makes the pod primary', to('db-2-0'), ['switch over db-0-0 -> db-2-0', 'wait SwitchingOver']],
    ['goes when the pod is primary', to('db-0-0'), ['db: switchover-to undefined', 'wait SwitchingOver']],
    ['is refused for a pod that is no member', to('db-9-0'), ['blocked SwitchoverRefused']],
    ['is refused for a text that is no pod', to('anybody'), ['blocked SwitchoverRefused']],
    ['waits while a member is not well', to('db-2-0', { members: { 1: 'silent' } }), ['wait MembersNotReady']],
    ['waits while nobody is primary', to('db-2-0', { primary: 'nobody' }), ['wait NoPrimary']],
    [
      'comes after a restart that is due',
      to('db-2-0', { pods: { 1: 'outdated' } }),
      ['delete Pod db-1-0', 'wait Restarting'],
    ],
    [
      'needs no synchronous standby where commits wait for none',
      to('db-2-0', { spec: { synchronous: { count: 0 } } }),
      ['switch over db-0-0 -> db-2-0', 'wait SwitchingOver'],
    ],
  ]);
});

describe('replace-member', () => {
  const replace = (pod: string, story?: Story) => noted('replace-member', pod, story);
  const replaced = [
    'data-db-2-0: retired true',
    'apply ConfigMap db-members: db-3.start=join',
    'create StatefulSet db-3',
    'apply Role db-postgres: rules[2].resourceNames[2]',
    'delete StatefulSet db-2',
    'wait Replacing',
  ];
  table([
    ['replaces a standby, and keeps its volume', replace('db-2-0'), replaced],
    ['goes when there is no such member', replace('db-9-0'), ['db: replace-member undefined', 'wait Updating']],
    ['waits while the pod is primary', replace('db-0-0'), ['settled']],
    [
      'waits while another member is new and has yet to copy',
      replace('db-2-0', { starts: { 1: 'join' }, members: { 1: { isStreaming: false, isSynchronous: false } } }),
      ['wait MembersNotReady'],
    ],
    ['waits while nobody is primary', replace('db-2-0', { primary: 'nobody' }), ['wait NoPrimary']],
    ['waits while another standby is away', replace('db-2-0', { members: { 1: 'silent' } }), ['wait MembersNotReady']],
    [
      'waits while another standby leaves',
      replace('db-2-0', {
        spec: { instances: 4 },
        before: { instances: 5 },
        rostered: [0, 1, 2, 3],
        pods: { 4: 'stopping' },
      }),
      ['delete StatefulSet db-4', 'wait Scaling'],
    ],
    [
      'does not wait for another one where the standby itself is away',
      replace('db-2-0', { members: { 1: 'silent', 2: 'silent' } }),
      replaced,
    ],
  ]);
});

describe('restart', () => {
  it('has every template changed', () => {
    expect(planned(noted('restart', 'today'))).toEqual([
      ...[0, 1, 2].map(
        (i) => `apply StatefulSet db-${i}: spec.template.metadata.annotations[clusterwright.dev/restart]`,
      ),
      'settled',
    ]);
  });
  it('restarts nobody when the annotation goes', () => {
    const told: Story['children'] = (objects) =>
      objects.map((object) => {
        if (object.kind !== 'StatefulSet') return object;
        const { spec } = object as unknown as { spec: { template: { metadata: { annotations: object } } } };
        Object.assign(spec.template.metadata.annotations, { 'clusterwright.dev/restart': 'today' });
        return object;
      });
    expect(planned({ children: told }).filter((line) => line.includes('restart]'))).toEqual([]);
  });
});

describe('the settings of the spec', () => {
  const parameters = { work_mem: '8MB', max_connections: '20', wrok_mem: '1MB', 'auto_explain.x': '1' };
  const primaryWith = (settings: readonly object[], change: object = {}): Story => ({
    spec: { parameters, instances: 1 },
    members: {
      0: {
        server: {
          state: 'seen',
          facts: {
            ...(facts({ spec: { parameters, instances: 1 } }) as object),
            ...change,
          },
          settings,
        },
      } as never,
    },
  });
  const facts = (story: Story) => {
    const [first] = postgresWorld(story).observed.members;
    return first?.state === 'answering' && first.server?.state === 'seen' ? first.server.facts : {};
  };
  const inForce = [
    { name: 'max_connections', value: '100', isDefault: false, isText: false, isPending: false },
    { name: 'work_mem', value: '4096', isDefault: true, isText: false, isPending: false },
  ];
  it('that are refused are named, with what is in force', () => {
    const story = primaryWith(inForce);
    expect(planned(story)).toEqual(['blocked ParametersRefused']);
    expect(messageOf(story)).toBe(
      'work_mem=8MB is not valid, and 4096 is in force; max_connections=20 is not valid, and 100 is in force; PostgreSQL 17 has no parameter wrok_mem: the members run without; correct or remove it in spec.parameters',
    );
  });
  it.each<[string, object]>([
    ['has read other settings', { config: 'other' }],
    ['has read none', { config: undefined }],
  ])('are waited for while a server %s', (_, change) => {
    expect(planned(primaryWith([], change))).toEqual(['wait Updating']);
  });
  it.each<[string, string, object, readonly string[]]>([
    ['for three rounds', '11:59:45', { configAgeMs: 60_000 }, ['reload db-0-0', 'wait Updating']],
    ['for less', '11:59:46', { configAgeMs: 60_000 }, ['wait Updating']],
    ['after its files were read just now', '11:50:00', { configAgeMs: 14_000 }, ['wait Updating']],
  ])('are written again where a server has others %s', (_, since, change, plan) => {
    const lastTransitionTime = `2030-06-01T${since}Z`;
    const ready = {
      type: 'Ready',
      status: 'False',
      reason: 'Updating',
      message: '',
      observedGeneration: 1,
      lastTransitionTime,
    } as const;
    const status = { initialized: true, phase: 'Updating', conditions: [ready] } as const;
    expect(planned({ ...primaryWith([], { config: undefined, ...change }), status })).toEqual(plan);
  });
  it('are waited for where everybody was ready until now, and Patroni of a long lock asks seldom', () => {
    const lastTransitionTime = '2030-06-01T11:58:00Z';
    const ready = {
      type: 'Ready',
      status: 'False',
      reason: 'Updating',
      message: '',
      observedGeneration: 1,
      lastTransitionTime,
    } as const;
    const story = primaryWith([], { config: undefined, configAgeMs: 600_000 });
    const spec = { ...story.spec, failover: { ttl: '10m' } };
    expect(planned({ ...story, spec, status: { initialized: true, conditions: [ready] } })).toEqual(['wait Updating']);
    const isReady = { ...ready, status: 'True' } as const;
    expect(planned({ ...story, status: { initialized: true, conditions: [isReady] } })).toEqual(['wait Updating']);
  });
  it('are waited for until Patroni has asked which of them take a restart', () => {
    const young = { configAgeMs: 2000 };
    expect(planned({ ...primaryWith(inForce, young), status: { initialized: true, phase: 'Updating' } })).toEqual([
      'wait Updating',
    ]);
    // Of a cluster that was ready they have been read anew for another reason.
    expect(planned({ ...primaryWith(inForce, young), status: { initialized: true, phase: 'Ready' } })).toEqual([
      'blocked ParametersRefused',
    ]);
    expect(planned(primaryWith(inForce, { pending: 1, configAgeMs: 10_000 }))).toEqual(['wait Updating']);
    expect(planned(primaryWith(inForce, { pending: 1, configAgeMs: 30_000 }))).toEqual(['blocked ParametersRefused']);
  });
});

describe('what PostgreSQL itself says', () => {
  const server = (number: number, change: object): Story => {
    const { observed } = postgresWorld();
    const member = observed.members[number];
    const seen = member?.state === 'answering' && member.server?.state === 'seen' ? member.server : undefined;
    return { members: { [number]: { server: { ...seen, facts: { ...seen?.facts, ...change } } } as never } };
  };
  table([
    ['the primary takes no writes yet', server(0, { inRecovery: true }), ['wait MembersNotReady']],
    ['commits wait for nobody', server(0, { waitsFor: '' }), ['wait MembersNotReady']],
    ['commits wait, and no standby is there', server(0, { waitsFor: 'ANY 1 (*)' }), ['wait MembersNotReady']],
    [
      'commits of the only member wait',
      { ...server(0, { waitsFor: 'ANY 1 (*)' }), numbers: [0], spec: { instances: 1 } },
      ['wait MembersNotReady'],
    ],
    [
      'those that commits wait for are still named by the former primary',
      { sync: { leader: 'db-1-0', sync_standby: 'db-0-0,db-2-0', quorum: '1' } },
      ['wait MembersNotReady'],
    ],
    ['a standby takes writes', server(1, { inRecovery: false }), ['wait MembersNotReady']],
    [
      'it does not let the operator in',
      { members: { 1: { server: { state: 'unknown', why: 'no' } } } },
      ['wait MembersNotReady'],
    ],
    ['all its connections are taken: it works', { members: { 1: { server: { state: 'full' } } } }, ['settled']],
    [
      'one standby is none that commits wait for yet',
      { members: { 1: { isSynchronous: false } } },
      ['wait MembersNotReady'],
    ],
  ]);
});

describe('certificates that were renewed', () => {
  const hourMs = 3_600_000;
  /** Those of the world have just been made: they are valid from a day before. It is a day later. */
  const started = (hoursBefore: number, readHoursAgo: number): Story => {
    const { observed } = postgresWorld();
    const [, member] = observed.members;
    const seen = member?.state === 'answering' && member.server?.state === 'seen' ? member.server : undefined;
    const facts = { ...seen?.facts, configAgeMs: readHoursAgo * hourMs };
    return {
      observed: { at: now + 24 * hourMs },
      members: { 1: { server: { ...seen, facts } } as never },
      children: (objects) =>
        objects.map((object) =>
          object.kind === 'Pod' && object.metadata.name === 'db-1-0'
            ? {
                ...object,
                status: {
                  ...(object.status as object),
                  startTime: new Date(now - hoursBefore * hourMs).toISOString(),
                },
              }
            : object,
        ),
    };
  };
  table([
    ['are read by a server that has read those before', started(48, 30), ['reload db-1-0', 'settled']],
    ['are read once', started(48, 23), ['settled']],
    ['were there when the pod started', started(-1, 30), ['settled']],
    [
      'are no renewed ones where the cluster is as old as they are',
      { ...started(0, 24), metadata: { creationTimestamp: new Date(now - 10_000).toISOString() } },
      ['settled'],
    ],
    [
      'are read where the cluster is older than they are',
      { ...started(0, 24), metadata: { creationTimestamp: new Date(now - hourMs).toISOString() } },
      ['reload db-1-0', 'settled'],
    ],
    [
      'are read while a member is away for long',
      { ...started(48, 30), pods: { 2: 'unready' } },
      ['reload db-1-0', 'wait MembersNotReady'],
    ],
    [
      'are read while an upgrade waits for a person',
      { ...started(48, 30), before: { version: '16' }, spec: { version: '17' } },
      ['reload db-1-0', 'blocked UpgradeNeedsBackup'],
    ],
    [
      'are read while a request waits for a person',
      { ...started(48, 30), metadata: { annotations: { 'clusterwright.dev/switchover-to': 'db-9-0' } } },
      ['reload db-1-0', 'blocked SwitchoverRefused'],
    ],
    [
      'wait for a restart that is due',
      { ...started(48, 30), pods: { 2: 'outdated' } },
      ['delete Pod db-2-0', 'wait Restarting'],
    ],
  ]);
});

describe('warnings', () => {
  it.each<[Parameters<typeof postgresCluster>[0], readonly string[]]>([
    [{}, []],
    [{ instances: 0 }, []],
    [{ instances: 1 }, ['SingleInstance']],
    [{ synchronous: { count: 0 } }, ['AsynchronousReplication']],
    [{ synchronous: { count: 1, strict: true } }, []],
    [{ instances: 2, synchronous: { count: 1, strict: true } }, ['NoSpareStandby']],
    [{ instances: 3, synchronous: { count: 2, strict: true } }, []],
    [{ parameters: { max_connections: '500' } }, ['ConnectionsWithoutMemory']],
  ])('of %o: %o', (spec, reasons) => {
    expect(specWarnings(postgresCluster(spec).spec).map(({ reason }) => reason)).toEqual(reasons);
  });

  it.each<readonly [string, object, string, string]>([
    [
      'the databases whose indexes were built with another order of texts than the primary has',
      { reordered: 'app, "Shop"' },
      'CollationsChanged',
      'app, "Shop"',
    ],
    [
      'indexes that an upgrade has left invalid, before the others',
      { reordered: 'app', indexes: { invalid: 'public.t_pkey of database app' } },
      'InvalidIndexes',
      'public.t_pkey of database app; remove the rows that are equal, then run REINDEX INDEX',
    ],
  ])('name %s', (_, seen, reason, words) => {
    const { cluster, children, observed } = postgresWorld();
    const members = observed.members.map((member) =>
      member.state === 'answering' && member.server?.state === 'seen' && member.role === 'primary'
        ? { ...member, server: { ...member.server, ...seen } }
        : member,
    );
    const situation = situationOf(cluster, children, { ...observed, members });
    const { conditions } = postgresStatus(situation, { steps: [], outcome: settled });
    expect(conditions.find(({ type }) => type === 'SpecWarning')).toMatchObject({
      status: 'True',
      reason,
      message: expect.stringContaining(words),
    });
  });
});

describe('a forecast', () => {
  it.each<[string, Story, RegExp | undefined]>([
    ['of more members', { spec: { instances: 5 }, before: {} }, /^2 member\(s\) join at once/],
    [
      'of fewer',
      { spec: {}, before: { instances: 5 } },
      /^2 member\(s\) leave, one at a time.*their volumes are kept$/,
    ],
    ['of what is there', {}, undefined],
    ['of what is there, with pods beside the members', { spec: { pooler: {}, monitoring: {} } }, undefined],
    [
      'of a setting that PostgreSQL reads when it starts, and of one that it does not',
      { spec: { parameters: { max_connections: '120', work_mem: '8MB' } }, before: {} },
      /^each member restarts for max_connections, one at a time/,
    ],
    [
      'of a larger limit of memory',
      { spec: { instances: 1, resources: { limits: { memory: '2Gi' } } }, before: { instances: 1 } },
      /^PostgreSQL restarts for shared_buffers$/,
    ],
    [
      'of another version',
      { spec: { version: '17', upgrade: { withoutBackup: true } }, before: { version: '15' } },
      /^once all members are well, PostgreSQL 15 becomes 17: .* and the standbys copy the data again$/,
    ],
    [
      'of another version without a backup',
      { spec: { version: '17' }, before: { version: '15' } },
      /^the data stays with PostgreSQL 15 until spec.backup names a target/,
    ],
    [
      'of an earlier version',
      { spec: { version: '15' }, before: { version: '17' } },
      /^the data stays with PostgreSQL 17: 15 cannot read it$/,
    ],
    ['of a setting that takes no restart', { spec: { parameters: { work_mem: '8MB' } }, before: {} }, undefined],
    [
      'of volumes of an earlier cluster',
      { children: (objects) => objects.filter(({ kind }) => kind === 'PersistentVolumeClaim') },
      /resume on the volumes of an earlier cluster of this name: data-db-0-0/,
    ],
  ])('%s', (_, story, words) => {
    const { cluster, children } = postgresWorld(story);
    const [line] = forecastPostgres(cluster, children);
    if (words === undefined) expect(line).toBeUndefined();
    else expect(line).toMatch(words);
  });
});
