/** How large a database may grow: with its log it has to fit on its volume. */
import { describe, expect, it } from 'vitest';
import { nearlyFull, quotaOf, quotaVariable } from '../../../src/engines/etcd/kind/quota.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { givenQuota } from '../../../src/engines/etcd/plan/given-quota.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { specWarnings } from '../../../src/engines/etcd/plan/warnings.ts';
import { etcdStatus } from '../../../src/engines/etcd/status.ts';
import { settled } from '../../../src/plan/plan.ts';
import { etcdCluster, etcdWorld, type Story } from '../../support/etcd-situation.ts';
import { planned, takesEtcdBackup } from '../../support/etcd-words.ts';

const mebibyte = 1024 ** 2;
const mebibytes = (size: string): number => Math.round(quotaOf(etcdCluster({ storage: { size } }).spec) / mebibyte);

describe('E11: the quota of a database, where the spec names none', () => {
  it.each<[string, string, number]>([
    ['leaves room for log and file system on a small volume', '1Gi', 461],
    ['does so on one of one and a half', '1536Mi', 922],
    ['is 60 % of a larger one', '8Gi', 4915],
    ['is what etcd advises at most', '100Gi', 8192],
    ['is a fifth where there is no room for the log either', '512Mi', 102],
  ])('%s', (_, size, expected) => {
    expect(mebibytes(size)).toBe(expected);
  });

  it('leaves 512 MiB and 5 % of every volume from 768Mi on', () => {
    for (let size = 768; size < 40_000; size += 61) {
      expect(mebibytes(`${size}Mi`) + 512).toBeLessThanOrEqual(Math.ceil(size * 0.95));
    }
  });

  it('is that of the spec', () => {
    expect(quotaOf(etcdCluster({ config: { quotaBackend: '600Mi' } }).spec)).toBe(600 * mebibyte);
  });
});

describe('a quota without room for the log', () => {
  const reasons = (size: string, quotaBackend: string): readonly string[] =>
    specWarnings(etcdCluster({ storage: { size }, config: { quotaBackend } })).map(({ reason }) => reason);

  it('is warned of', () => {
    expect(reasons('1Gi', '600Mi')).toEqual(['QuotaWithoutRoom']);
    const [warning] = specWarnings(etcdCluster({ config: { quotaBackend: '600Mi' } }));
    expect(warning?.message).toContain('at most 460Mi');
  });

  it('is not where there is room', () => {
    expect([reasons('1Gi', '460Mi'), reasons('2Gi', '600Mi')]).toEqual([[], []]);
  });
});

/** Bytes that an operator has written that left the log no room. */
const before: Story = { quota: 644245094 };
const sets = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('apply StatefulSet'));

describe('members that an earlier operator has given a larger quota by default', () => {
  it('are not restarted for it', () => {
    expect(planned(before)).toEqual(['settled']);
  });

  it('get the present one with the next change', () => {
    const lines = planned({ ...before, before: {}, spec: { resources: { limits: { memory: '1Gi' } } } });
    expect(sets(lines)).toEqual([0, 1, 2].map((i) => expect.stringMatching(`^apply StatefulSet db-${i}: .*QUOTA`)));
  });

  it('get at once what the spec names', () => {
    const lines = planned({ ...before, before: {}, spec: { config: { quotaBackend: '300Mi' } } });
    expect(sets(lines)).toHaveLength(3);
  });

  it('get at once a larger one, with larger volumes', () => {
    const lines = planned({
      ...before,
      children: grown({ all: '2Gi' }),
      before: {},
      spec: { storage: { size: '2Gi' } },
    });
    expect(sets(lines)).toHaveLength(3);
  });
});

describe('E11: where the database does not fit under the present default, the quota that the members have', () => {
  const sized = (mebibytes: number): NonNullable<Story['members']> => ({
    all: { dbSize: mebibytes * mebibyte, dbInUse: mebibytes * mebibyte },
  });
  const other: Story = { ...before, before: {}, spec: { resources: { limits: { memory: '1Gi' } } } };
  const quotas = (story: Story): readonly unknown[] => {
    const { cluster, children, observed } = etcdWorld(story);
    return planEtcd(situationOf(cluster, children, observed), takesEtcdBackup).steps.flatMap((step) => {
      if ((step.type !== 'create' && step.type !== 'apply') || step.object.kind !== 'StatefulSet') return [];
      const { template } = step.object.spec as { template: { spec: { containers: { env: { name: string }[] }[] } } };
      const [variable] = template.spec.containers.flatMap(({ env }) =>
        env.filter(({ name }) => name === quotaVariable),
      );
      return [(variable as { readonly value?: string } | undefined)?.value];
    });
  };
  const [had, present] = ['644245094', String(quotaOf(etcdCluster().spec))];

  it.each<[string, Story, readonly unknown[]]>([
    ['stays with another change', { ...other, members: sized(420) }, [had, had, had]],
    [
      'stays while one member alone is as large',
      { ...other, members: { 1: { dbSize: 500 * mebibyte } } },
      [had, had, had],
    ],
    ['goes where there is room', { ...other, members: sized(400) }, [present, present, present]],
    [
      'stays where it is nearly full',
      { ...other, members: sized((Number(present) * nearlyFull) / mebibyte) },
      [had, had, had],
    ],
    [
      'stays while nobody says how large it is',
      { ...other, leader: 'nobody', members: { all: 'silent' } },
      [had, had, had],
    ],
    [
      'stays while only a new member answers, which has yet to copy the data',
      {
        ...other,
        numbers: [0, 1, 2, 3],
        leader: 'nobody',
        members: { all: 'silent', 3: 'copying' },
      },
      [had, had, had, had],
    ],
    [
      'stays while one member does not answer, which may have more unused space than the others',
      { ...other, members: { 2: 'silent' } },
      [had, had, had],
    ],
    [
      'is that of a new member, too',
      {
        numbers: [0, 1, 2, 3],
        members: { ...sized(420), 2: 'unlisted', 3: 'unstarted' },
        claims: { 2: 'retired' },
        ...before,
        children: (objects) => objects.filter(({ metadata }) => !/^(data-)?db-[23]/.test(metadata.name)),
      },
      [had],
    ],
    [
      'is not what the spec names',
      { ...other, members: sized(420), spec: { config: { quotaBackend: '430Mi' } } },
      Array(3).fill(String(430 * mebibyte)),
    ],
  ])('%s', (_, story, expected) => {
    expect(quotas(story)).toEqual(expected);
  });

  it.each<[string, Story, string]>([
    [
      'goes though a member whose volume holds no data does not answer',
      { members: { 2: 'silent' }, claims: { 2: 'blank' } },
      present,
    ],
    [
      'stays where nobody answers, and no volume holds data',
      { leader: 'nobody', members: { all: 'silent' }, claims: { all: 'blank' } },
      had,
    ],
  ])('%s', (_, story, quota) => {
    const { cluster, children, observed } = etcdWorld({ ...before, ...story });
    expect(String(givenQuota(situationOf(cluster, children, observed)))).toBe(quota);
  });

  it('is warned of', () => {
    const messages = (members: Story['members']): readonly string[] => {
      const { cluster, children, observed } = etcdWorld({ ...before, ...(members ? { members } : {}) });
      const { conditions } = etcdStatus(situationOf(cluster, children, observed), { steps: [], outcome: settled });
      return conditions.flatMap(({ reason, message }) => (reason === 'QuotaWithoutRoom' ? [message] : []));
    };
    expect(messages(sized(420))).toEqual([
      expect.stringContaining('config.quotaBackend of 614Mi, an earlier default that the members keep, leaves no room'),
    ]);
    expect(messages(undefined)).toEqual([]);
  });

  it('tells whether an alarm may end', () => {
    const raised: Story = { ...before, alarms: [{ memberId: '2', type: 'NOSPACE' }] };
    expect(planned({ ...raised, members: sized(500), agreed: { compacted: '100' } })).toEqual([
      'disarm 1 NOSPACE',
      'wait EndingAlarm',
    ]);
    expect(planned({ ...raised, members: sized(560), agreed: { compacted: '100' } })).toEqual([
      'blocked QuotaExhausted',
    ]);
  });
});

/** Volumes that have this by now. */
const grown =
  (sizes: { readonly all?: string; readonly [number: number]: string | undefined }): NonNullable<Story['children']> =>
  (objects) =>
    objects.map((object) => {
      const number = /^data-db-(\d+)-0$/.exec(object.metadata.name)?.[1];
      const storage = number === undefined ? undefined : (sizes[Number(number)] ?? sizes.all);
      return storage === undefined ? object : { ...object, status: { phase: 'Bound', capacity: { storage } } };
    });

describe('E11: where larger volumes are wanted, the quota', () => {
  const wanted: Story = { before: {}, spec: { storage: { size: '10Gi' } } };
  const growth = [0, 1, 2].map((i) => `try data-db-${i}-0: spec.resources.requests.storage 10Gi`);
  const path = 'spec.template.spec.containers[etcd].env[ETCD_QUOTA_BACKEND_BYTES].value';
  const rows: readonly [string, Story, readonly string[]][] = [
    ['stays while they are small', wanted, [...growth, 'wait ExpandingVolumes']],
    [
      'stays while one is small',
      { ...wanted, children: grown({ all: '10Gi', 1: '1Gi' }) },
      [...growth, 'wait ExpandingVolumes'],
    ],
    [
      'grows when the last one has grown',
      { ...wanted, children: grown({ all: '10Gi' }) },
      [...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${path}`), ...growth, 'settled'],
    ],
    [
      'does not wait for the volume of a member that was removed',
      {
        ...wanted,
        numbers: [0, 1, 2, 3],
        members: { 3: 'unlisted' },
        claims: { 3: 'retired' },
        children: (objects) =>
          grown({ all: '10Gi', 3: '1Gi' })(objects.filter(({ metadata }) => !/^db-3/.test(metadata.name))),
      },
      [
        'apply ConfigMap db-members: ',
        ...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${path}`),
        ...growth,
        'settled',
      ],
    ],
    [
      'takes a size that no spec can name for large enough',
      { ...wanted, children: grown({ all: '10Gi', 1: '1Pi' }) },
      [...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${path}`), ...growth, 'settled'],
    ],
  ];
  it.each(rows)('%s', (_, story, plan) => {
    expect(planned(story)).toEqual(plan);
  });

  it('grows though nobody says how large the database is: it fits under a larger one', () => {
    const silent: Story = { ...wanted, children: grown({ all: '10Gi' }), leader: 'nobody', members: { all: 'silent' } };
    const { cluster, children, observed } = etcdWorld(silent);
    expect(givenQuota(situationOf(cluster, children, observed))).toBe(quotaOf(cluster.spec));
  });

  it('of the spec is warned of, where a volume has no room for it', () => {
    const spec = { storage: { size: '10Gi' }, config: { quotaBackend: '2Gi' } };
    const conditions = (story: Story): readonly string[] => {
      const { cluster, children, observed } = etcdWorld(story);
      return etcdStatus(situationOf(cluster, children, observed), { steps: [], outcome: settled }).conditions.map(
        (c) => c.reason,
      );
    };
    expect(conditions({ before: {}, spec })).toContain('QuotaWithoutRoom');
    expect(conditions({ before: {}, spec, children: grown({ all: '10Gi' }) })).not.toContain('QuotaWithoutRoom');
  });
});

describe('a larger quota for a database that has used up its own', () => {
  const full: Story = {
    spec: { config: { quotaBackend: '400Mi' } },
    before: { config: { quotaBackend: '200Mi' } },
    members: { all: { dbSize: 200 * mebibyte, dbInUse: 200 * mebibyte } },
    agreed: { compacted: '100' },
  };
  const alarms: Story['alarms'] = [{ memberId: '2', type: 'NOSPACE' }];
  const planOf = (story: Story) => {
    const { cluster, children, observed } = etcdWorld(story);
    return planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
  };

  it('waits for no maintenance window', () => {
    const plan = planOf({ ...full, alarms });
    expect(plan.repairs).toBe(true);
    expect(plan.steps.filter((step) => step.type === 'apply' && step.object.kind === 'StatefulSet')).toHaveLength(3);
  });

  it('comes with another minor where that is wanted, too', () => {
    const versions = {
      spec: { ...full.spec, version: '3.6.16' },
      before: { ...full.before, version: '3.5.35' },
    } as const;
    const plan = planOf({ ...full, ...versions, alarms });
    expect([plan.repairs, plan.otherwise === undefined]).toEqual([undefined, false]);
  });

  it('waits for one as long as there is room', () => {
    expect(planOf(full).repairs).toBeUndefined();
  });

  it('ends no alarm before the members have it', () => {
    expect(planOf({ ...full, alarms }).outcome).toMatchObject({ state: 'blocked', reason: 'QuotaExhausted' });
  });
});
