import { describe, expect, it } from 'vitest';
import type { BackupStatus, RunResult, ScheduleStatus } from '../../src/api/backup-status.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { createBackup } from '../../src/cli/backup/create.ts';
import { listBackups } from '../../src/cli/backup/list.ts';
import { verifyBackup } from '../../src/cli/backup/verify.ts';
import { apiServer } from './api-server.ts';
import { world } from './world.ts';

const object = (kind: string, name: string, spec: object, status?: object): KubeObject => ({
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind,
  metadata: { name, namespace: 'team', uid: `uid-of-${name}` },
  spec,
  ...(status === undefined ? {} : { status }),
});
const target = { claim: { name: 'archive' } };
const about = { kind: 'RedisCluster', name: 'db' };
const verified: BackupStatus = {
  phase: 'Verified',
  id: '20291231T235000Z-0123abcd',
  location: 'team/RedisCluster/uid-of-db/20291231T235000Z-0123abcd',
  completedAt: '2029-12-31T23:50:00Z',
  size: 4096,
  version: '8.0.5',
  contents: { 'keys.0': '3' },
};

/** A controller that finishes every Backup, and blocks every cluster that begins with one. */
function settle(stored: KubeObject): KubeObject {
  if (stored.kind === 'Backup' && stored.status === undefined) return { ...stored, status: verified };
  const { bootstrap } = stored.spec as { readonly bootstrap?: object };
  const said = { type: 'Ready', status: 'False', reason: 'RestoreFailed', message: 'it was tampered with' };
  return bootstrap === undefined ? stored : { ...stored, status: { phase: 'Blocked', conditions: [said] } };
}

describe('backup create', () => {
  it('takes one to where the cluster says, and waits for it', async () => {
    const api = apiServer({ objects: [object('RedisCluster', 'db', { backup: { target } })], settle });
    const cli = world({ api });
    expect(await createBackup({ cluster: 'rdc/db', wait: true }, cli)).toBe(0);
    expect(cli.printed.out).toBe(`db-20300101-000000: verified, ${verified.id} in ${verified.location}\n`);
    expect(api.object('Backup', 'db-20300101-000000')?.spec).toEqual({ cluster: about, target });
  });

  it('gives it the labels by which an operator selects its cluster, and not those of other tools', async () => {
    const cluster = object('RedisCluster', 'db', { backup: { target } });
    const labels = { tier: 'blue', 'app.kubernetes.io/instance': 'shop', 'kustomize.toolkit.fluxcd.io/name': 'shop' };
    const api = apiServer({ objects: [{ ...cluster, metadata: { ...cluster.metadata, labels } }] });
    await createBackup({ cluster: 'rdc/db', name: 'now', wait: false }, world({ api }));
    expect(api.object('Backup', 'now')?.metadata.labels).toEqual({ tier: 'blue' });
  });

  it('takes one to where the only schedule says, and does not wait', async () => {
    const schedule = object('BackupSchedule', 'nightly', { cluster: about, schedule: '0 3 * * *', target });
    const api = apiServer({ objects: [object('RedisCluster', 'db', {}), schedule] });
    const cli = world({ api });
    expect(await createBackup({ cluster: 'rdc/db', name: 'now', wait: false }, cli)).toBe(0);
    expect(cli.printed.out).toBe('now\n');
  });

  it('ends where the Backup is blocked, with the reason', async () => {
    const said = { type: 'Ready', status: 'False', reason: 'ClaimInUse', message: 'db-archive-0 mounts PVC archive' };
    const blocked = (stored: KubeObject) =>
      stored.kind === 'Backup' ? { ...stored, status: { phase: 'Blocked', conditions: [said] } } : stored;
    const api = apiServer({ objects: [object('RedisCluster', 'db', { backup: { target } })], settle: blocked });
    await expect(createBackup({ cluster: 'rdc/db', name: 'now', wait: true }, world({ api }))).rejects.toThrow(
      'backup now is blocked: db-archive-0 mounts PVC archive; it is taken once this has changed, unless you delete it',
    );
  });

  it.each([
    [
      'of a cluster that says nothing',
      'rdc/db',
      'RedisCluster db has no spec.backup, and no schedule to take a target from',
    ],
    ['of a cluster that is not there', 'rdc/other', 'there is no RedisCluster other in namespace team'],
    ['of a backup', 'backup/db', 'backup/db is not KIND/NAME of a database'],
  ])('refuses one %s', async (_, cluster, message) => {
    const cli = world({ api: apiServer({ objects: [object('RedisCluster', 'db', {})] }) });
    await expect(createBackup({ cluster, wait: false }, cli)).rejects.toThrow(message);
  });
});

describe('backup list', () => {
  it('shows backups and the last runs of schedules', async () => {
    const run = { ...verified, job: 'schedule-nightly-1', outcome: 'Verified' };
    const objects = [
      object('Backup', 'first', { cluster: about, target }, verified),
      object('Backup', 'second', { cluster: about, target }, { phase: 'Running' }),
      object('BackupSchedule', 'nightly', { cluster: about, target }, { results: [run] }),
    ];
    const cli = world({ api: apiServer({ objects }) });
    expect(await listBackups({}, cli)).toBe(0);
    expect(cli.printed.out).toBe(
      [
        'NAME           CLUSTER           PHASE      SIZE   AGE   ID',
        'cwb/first      rediscluster/db   Verified   4096   10m   20291231T235000Z-0123abcd',
        'cwb/second     rediscluster/db   Running',
        'cwbs/nightly   rediscluster/db   Verified   4096   10m   20291231T235000Z-0123abcd',
        '',
      ].join('\n'),
    );
  });
});

describe('backup verify', () => {
  it('tries only what is verified', async () => {
    const objects = [object('Backup', 'new', { cluster: about, target }, { phase: 'Running' })];
    const cli = world({ api: apiServer({ objects }) });
    await expect(verifyBackup({ name: 'new', timeout: 1 }, cli)).rejects.toThrow('only one that is Verified');
    await expect(verifyBackup({ name: 'other', timeout: 1 }, cli)).rejects.toThrow('there is no Backup other');
  });

  it('says why it could not be restored, and leaves nothing behind', async () => {
    const objects = [
      object('RedisCluster', 'db', { config: { 'min-replicas-to-write': 1 }, storage: { size: '2Gi' } }),
      object('Backup', 'first', { cluster: about, target }, verified),
    ];
    const api = apiServer({ objects, settle });
    await expect(verifyBackup({ name: 'first', timeout: 1 }, world({ api }))).rejects.toThrow(
      'the restored cluster is blocked: it was tampered with',
    );
    expect(api.names).toEqual(['Backup team/first', 'RedisCluster team/db']);
    const [made] = api.writes.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(String(body)));
    expect(made).toMatchObject({
      metadata: { name: 'first-drill', namespace: 'team' },
      spec: {
        mode: 'Standalone',
        replicas: 1,
        storage: { size: '2Gi' },
        config: {},
        deletionPolicy: 'Delete',
        bootstrap: { restore: { target, id: verified.id } },
      },
    });
  });

  it('has the user and the pull secrets of the original, and neither its labels nor its Services', async () => {
    const imagePullSecrets = [{ name: 'registry' }];
    const pods = { uid: 1_000_650_000, imagePullSecrets, labels: { app: 'shop' }, serviceAccountName: 'shop' };
    const original = object('RedisCluster', 'db', { pods, access: { primary: { type: 'NodePort' } } });
    const objects = [
      { ...original, metadata: { ...original.metadata, labels: { tier: 'blue' } } },
      object('Backup', 'first', { cluster: about, target }, verified),
    ];
    const api = apiServer({ objects, settle });
    await expect(verifyBackup({ name: 'first', timeout: 1 }, world({ api }))).rejects.toThrow('tampered with');
    const [made] = api.writes.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(String(body)));
    expect(made.spec.pods).toEqual({ uid: 1_000_650_000, imagePullSecrets });
    expect(made.spec).not.toHaveProperty('access');
    expect(made.metadata.labels).toEqual({ tier: 'blue' });
  });

  it.each<readonly [kind: string, networkPolicy: object | undefined]>([
    ['EtcdCluster', { clients: [], metrics: [] }],
    ['EtcdCluster', undefined],
    ['RedisCluster', { clients: [{ podSelector: { matchLabels: { app: 'web' } } }], metrics: [] }],
    ['PostgresCluster', { clients: [], metrics: [{ all: 'AllNamespaces' }] }],
  ])('a copy of the data of %s has the NetworkPolicy of the original: %j', async (kind, networkPolicy) => {
    const version = kind === 'PostgresCluster' ? { version: '17' } : {};
    const objects = [
      object(kind, 'db', { ...version, ...(networkPolicy === undefined ? {} : { networkPolicy }) }),
      object('Backup', 'first', { cluster: { kind, name: 'db' }, target }, verified),
    ];
    const api = apiServer({ objects, settle });
    await expect(verifyBackup({ name: 'first', timeout: 1 }, world({ api }))).rejects.toThrow('tampered with');
    const [made] = api.writes.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(String(body)));
    expect(made.spec.networkPolicy).toEqual(networkPolicy);
  });

  it('is none where volumes of the name are kept: it would take them up, and along when it goes', async () => {
    const names = { 'app.kubernetes.io/managed-by': 'clusterwright', 'app.kubernetes.io/name': 'redis' };
    const claim: KubeObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: 'data-first-drill-0',
        namespace: 'team',
        labels: { ...names, 'app.kubernetes.io/instance': 'first-drill' },
        annotations: { 'clusterwright.dev/restored': verified.location ?? '' },
      },
      spec: {},
    };
    const backup = object('Backup', 'first', { cluster: about, target }, verified);
    const api = apiServer({ objects: [object('RedisCluster', 'db', {}), backup, claim], settle });
    await expect(verifyBackup({ name: 'first', timeout: 1 }, world({ api }))).rejects.toThrow(
      'there are volumes of a RedisCluster first-drill (data-first-drill-0)',
    );
    expect(api.writes).toEqual([]);
  });

  const run = (id: string, more: Partial<RunResult> = {}): RunResult => {
    return { ...verified, id, job: `nightly-${id}`, outcome: 'Verified', ...more };
  };
  const encryption = { secret: 'key' };
  const nightly = (status: Partial<ScheduleStatus>): KubeObject =>
    object('BackupSchedule', 'nightly', { cluster: about, schedule: '0 3 * * *', target, encryption }, status);

  it.each<readonly [story: string, args: { name: string; id?: string }, status: Partial<ScheduleStatus>, id: string]>([
    [
      'the last good backup of a schedule, whatever failed since',
      { name: 'schedule/nightly' },
      { lastSuccess: run('last'), results: [run('bad', { outcome: 'Failed' }), run('last'), run('older')] },
      'last',
    ],
    [
      'the last good one, though it is none of the last runs',
      { name: 'schedule/nightly', id: 'last' },
      { lastSuccess: run('last'), results: [run('bad', { outcome: 'Failed' })] },
      'last',
    ],
    [
      'an older one that it remembers',
      { name: 'backupschedule/nightly', id: 'older' },
      { lastSuccess: run('last'), results: [run('last'), run('older')] },
      'older',
    ],
    ['one by any name of the kind', { name: 'cwbs/nightly' }, { lastSuccess: run('last') }, 'last'],
  ])('tries %s', async (_, args, status, id) => {
    const api = apiServer({ objects: [object('RedisCluster', 'db', {}), nightly(status)], settle });
    const cli = world({ api });
    await expect(verifyBackup({ ...args, timeout: 1 }, cli)).rejects.toThrow('is blocked');
    expect(cli.printed.err).toBe(`RedisCluster nightly-drill is made of backup ${id}, asked, and deleted\n`);
    const [made] = api.writes.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(String(body)));
    expect(made).toMatchObject({
      metadata: { name: 'nightly-drill' },
      spec: { bootstrap: { restore: { target, encryption, id } } },
    });
    expect(api.names).toEqual(['BackupSchedule team/nightly', 'RedisCluster team/db']);
  });

  it.each<readonly [story: string, args: { name: string; id?: string }, message: string]>([
    ['a schedule that is not there', { name: 'schedule/other' }, 'there is no BackupSchedule other in namespace team'],
    [
      'the bare name of a schedule',
      { name: 'nightly' },
      'there is no Backup nightly in namespace team; what a schedule took is tried as schedule/NAME',
    ],
    ['one that has taken nothing good', { name: 'schedule/new' }, 'schedule new has no verified backup yet'],
    [
      'an id that it does not remember',
      { name: 'schedule/nightly', id: 'other' },
      'schedule nightly remembers no backup other; backup list shows those that it does',
    ],
    [
      'a run that failed',
      { name: 'schedule/nightly', id: 'bad' },
      'backup bad of schedule nightly is Failed: only one that is Verified can be tried',
    ],
    ['an id of a Backup', { name: 'backup/first', id: 'other' }, '--id is for what a schedule took'],
    ['a database', { name: 'rdc/db' }, 'rdc/db is neither the name of a Backup nor schedule/NAME'],
    ['a path', { name: 'schedule/nightly/1' }, 'schedule/nightly/1 is neither the name of a Backup nor schedule/NAME'],
  ])('refuses %s, and makes nothing', async (_, args, message) => {
    const failed = run('bad', { outcome: 'Failed' });
    const api = apiServer({
      objects: [
        nightly({ lastSuccess: run('last'), lastFailure: failed, results: [failed, run('last')] }),
        object('BackupSchedule', 'new', { cluster: about, target }, { lastFailure: failed, results: [failed] }),
        object('Backup', 'first', { cluster: about, target }, verified),
      ],
      settle,
    });
    await expect(verifyBackup({ ...args, timeout: 1 }, world({ api }))).rejects.toThrow(message);
    expect(api.writes).toEqual([]);
  });

  it.each([
    ['RedisCluster', 'RedisCluster db is gone: the throw-away one has the default settings\n'],
    [
      'EtcdCluster',
      'EtcdCluster db is gone: the throw-away one has the default settings, without TLS, and lets everybody in\n',
    ],
  ])('says what it does without where the %s is gone', async (kind, words) => {
    const status = { ...verified, version: kind === 'EtcdCluster' ? '3.6.16' : '8.0.5' };
    const backup = object('Backup', 'first', { cluster: { kind, name: 'db' }, target }, status);
    const cli = world({ api: apiServer({ objects: [backup], settle }) });
    await expect(verifyBackup({ name: 'first', timeout: 1 }, cli)).rejects.toThrow('is blocked');
    expect(cli.printed.err).toContain(words);
  });
});
