/** Targets that are reached as a ServiceAccount: what the pods get, and whose name in a Backup is not enough. */
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { settled } from '../../src/plan/plan.ts';
import { type Children, childrenOf, noChildren } from '../../src/resources/children.ts';
import type { PodSpec } from '../../src/resources/plain.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { restrictedBreaches } from '../../src/testing/pod-security.ts';
import { db, engineOf, resourceOf, timeOnly } from '../support/backup-story.ts';

const s3 = { endpoint: 'https://s3.eu-central-1.amazonaws.com', region: 'eu-central-1', bucket: 'backups' };
const injected = { ...s3, serviceAccountName: 'backups' };
const roleArn = 'arn:aws:iam::123456789012:role/backups';
const cluster = { kind: 'RedisCluster', name: 'db' };

const backupOf = (target: object): Cluster => resourceOf('Backup', 'now', { cluster, target: { s3: target } });
const scheduleOf = (target: object): Cluster =>
  resourceOf('BackupSchedule', 'nightly', { cluster, target: { s3: target }, schedule: '0 3 * * *' });
const restoreOf = (kind: string, target: object): Cluster =>
  resourceOf(kind, 'db', { bootstrap: { restore: { target: { s3: target } } } });

interface Template {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

function templateOf(resource: Cluster): Template {
  const objects = engineOf(resource.kind).resources(resource, db);
  const job = objects.map(({ object }) => object).find(({ kind }) => kind === 'Job' || kind === 'CronJob');
  const spec = job?.spec as { template?: Template; jobTemplate?: { spec: { template: Template } } };
  const found = spec.template ?? spec.jobTemplate?.spec.template;
  if (found === undefined) throw new Error('no pod');
  return found;
}

const agentOf = ({ containers, initContainers = [] }: PodSpec) =>
  [...initContainers, ...containers].find(({ name }) => name === 'agent');

describe('a pod that reaches its target as a ServiceAccount', () => {
  it.each([backupOf, scheduleOf])('runs as it, with what the platform injects and no token for Kubernetes', (of) => {
    const { spec } = templateOf(of(injected));
    expect(spec).toMatchObject({ serviceAccountName: 'backups', automountServiceAccountToken: false });
    // An apply that drops the name alone has no effect: the API server restores it from its alias.
    expect(spec.serviceAccount).toBe('backups');
    expect(agentOf(spec)?.env).toBeUndefined();
    expect(JSON.stringify(spec.volumes)).not.toMatch(/projected|accessKeyId/);
    const volumes = (spec.volumes ?? []).map(({ name }) => name);
    for (const mount of agentOf(spec)?.volumeMounts ?? []) expect(volumes).toContain(mount.name);
    expect(restrictedBreaches(spec)).toEqual([]);
  });

  it('has a token of its own where the platform injects none', () => {
    const { spec } = templateOf(backupOf({ ...injected, webIdentity: { roleArn } }));
    const directory = '/var/run/secrets/clusterwright/identity';
    expect(agentOf(spec)?.env).toEqual([
      { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: `${directory}/token` },
      { name: 'AWS_ROLE_ARN', value: roleArn },
      { name: 'AWS_ENDPOINT_URL_STS', value: 'https://sts.eu-central-1.amazonaws.com' },
      { name: 'AWS_REGION', value: 'eu-central-1' },
    ]);
    const token = { audience: 'sts.amazonaws.com', expirationSeconds: 3600, path: 'token' };
    expect(spec.volumes).toContainEqual({ name: 'identity', projected: { sources: [{ serviceAccountToken: token }] } });
    expect(agentOf(spec)?.volumeMounts).toContainEqual({ name: 'identity', mountPath: directory, readOnly: true });
    expect(restrictedBreaches(spec)).toEqual([]);
  });

  it.each<[string, object, string]>([
    [
      'AWS in China',
      { endpoint: 'https://s3.cn-north-1.amazonaws.com.cn', region: 'cn-north-1' },
      'https://sts.cn-north-1.amazonaws.com.cn',
    ],
    ['a server that serves both', { endpoint: 'https://minio.storage.svc:9000' }, 'https://minio.storage.svc:9000'],
    ['a name that only looks like AWS', { endpoint: 'https://s3.xamazonaws.com' }, 'https://s3.xamazonaws.com'],
    [
      'a name that only begins like AWS',
      { endpoint: 'https://s3.amazonaws.com.example' },
      'https://s3.amazonaws.com.example',
    ],
    [
      'one that is named',
      { webIdentity: { endpoint: 'https://sts.minio:4223/sts/apps' } },
      'https://sts.minio:4223/sts/apps',
    ],
  ])('asks the token service of %s', (_, more, endpoint) => {
    const { spec } = templateOf(backupOf({ ...injected, webIdentity: {}, ...more }));
    expect(agentOf(spec)?.env).toContainEqual({ name: 'AWS_ENDPOINT_URL_STS', value: endpoint });
    // The server itself says which role it is: none is named.
    expect(agentOf(spec)?.env?.map(({ name }) => name)).toEqual([
      'AWS_WEB_IDENTITY_TOKEN_FILE',
      'AWS_ENDPOINT_URL_STS',
      'AWS_REGION',
    ]);
  });

  it('shows what it may to the agent alone, and to no image of the user', () => {
    const { metadata, spec } = templateOf(restoreOf('EtcdCluster', { ...injected, webIdentity: { roleArn } }));
    expect(metadata.annotations).toEqual({ 'eks.amazonaws.com/skip-containers': 'restore,place' });
    for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
      const isAgent = container.name === 'agent';
      expect(container.volumeMounts?.some(({ name }) => name === 'identity')).toBe(isAgent);
      expect(container.env?.some(({ name }) => name.startsWith('AWS_')) === true).toBe(isAgent);
    }
    expect(templateOf(restoreOf('RedisCluster', injected)).metadata.annotations).toBeUndefined();
  });

  it('is as ever where there are credentials', () => {
    const { metadata, spec } = templateOf(backupOf({ ...s3, credentials: 's3' }));
    for (const field of ['serviceAccountName', 'serviceAccount']) expect(spec).not.toHaveProperty(field);
    expect(metadata).not.toHaveProperty('annotations');
  });
});

describe('a target', () => {
  it.each<[string, object, RegExp]>([
    ['neither credentials nor a ServiceAccount', s3, /either credentials or serviceAccountName/],
    ['both', { ...injected, credentials: 's3' }, /either credentials or serviceAccountName/],
    ['a token of nobody', { ...s3, credentials: 's3', webIdentity: {} }, /webIdentity needs serviceAccountName/],
    ['a token service with a user', { ...injected, webIdentity: { endpoint: 'https://a@b' } }, /endpoint/],
  ])('is refused with %s', (_, target, words) => {
    const spec = { cluster, target: { s3: target } };
    const object = { apiVersion: 'clusterwright.dev/v1alpha1', kind: 'Backup', metadata: { name: 'b' }, spec };
    const verdict = validateCluster(engineOf('Backup').kind, object);
    expect(verdict.ok ? '' : JSON.stringify(verdict.violations)).toMatch(words);
  });
});

describe('a ServiceAccount', () => {
  const account = (annotations: Readonly<Record<string, string>>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'backups', namespace: 'apps', annotations },
  });
  const willing = { 'clusterwright.dev/for-backups': 'true' };
  const minio = 'https://minio.storage.svc:9000';
  const named = { ...willing, 'clusterwright.dev/sts-endpoint': minio };
  const token = (endpoint?: string) => ({ ...injected, webIdentity: endpoint === undefined ? {} : { endpoint } });
  const tokenFor = (audience: string) => ({ ...injected, webIdentity: { audience } });
  const heard = { ...willing, 'clusterwright.dev/sts-audience': 'minio' };

  const cases: readonly [string, object, KubeObject | undefined, string | undefined, RegExp?][] = [
    ['that is not there', injected, undefined, 'ServiceAccountMissing'],
    ['that says nothing', injected, account({}), 'ServiceAccountRefused', /does not say that backups may run as it/],
    ['that says no', injected, account({ 'clusterwright.dev/for-backups': 'no' }), 'ServiceAccountRefused'],
    ['that says so', injected, account(willing), undefined],
    ['whose token goes to AWS', token(), account(willing), undefined],
    [
      'whose token goes elsewhere',
      token('https://evil.example'),
      account(willing),
      'ServiceAccountRefused',
      /AWS alone, and not to/,
    ],
    [
      'whose token goes to what looks like AWS',
      token('https://sts.amazonaws.com.evil.example'),
      account(willing),
      'ServiceAccountRefused',
    ],
    ['whose token goes to AWS in plain', token('http://sts.amazonaws.com'), account(willing), 'ServiceAccountRefused'],
    ['whose token goes where it says', token(minio), account(named), undefined],
    [
      'whose token goes where it does not say',
      token('https://evil.example'),
      account(named),
      'ServiceAccountRefused',
      /minio/,
    ],
    ['whose token goes to AWS where it names another', token(), account(named), 'ServiceAccountRefused'],
    [
      'whose token is for the API server',
      tokenFor('https://kubernetes.default.svc.cluster.local'),
      account(willing),
      'ServiceAccountRefused',
      /lets its tokens be for sts\.amazonaws\.com, and not for https:\/\/kubernetes\.default/,
    ],
    ['whose token is for whom it says', tokenFor('minio'), account(heard), undefined],
    ['whose token is for AWS where it says another', token(), account(heard), 'ServiceAccountRefused', /minio/],
  ];

  it.each(cases)('%s', async (_, target, found, reason, words = /./) => {
    const io = timeOnly(undefined, undefined, async () => found);
    for (const resource of [backupOf(target), scheduleOf(target), restoreOf('EtcdCluster', target)]) {
      const { plan } = await engineOf(resource.kind).assess(resource, noChildren, io, db);
      const made = plan.steps.map(describeStep).filter((step) => /Job|ConfigMap/.test(step));
      if (reason === undefined) expect(made.length).toBeGreaterThan(0);
      else {
        expect(made).toEqual([]);
        expect(plan.outcome).toMatchObject({ reason, message: expect.stringMatching(words), recheckMs: 10_000 });
      }
    }
  });

  describe('of a CronJob that exists', () => {
    const look = async (found: KubeObject | undefined, children: Children, spec: object = injected) => {
      const io = timeOnly(undefined, undefined, async () => found);
      const { plan, status } = await engineOf('BackupSchedule').assess(scheduleOf(spec), children, io, db);
      return { plan, phase: status.phase, steps: plan.steps.map(describeStep) };
    };
    const live = (suspend: boolean): Children =>
      childrenOf(
        engineOf('BackupSchedule')
          .resources(scheduleOf(injected), db)
          .map(({ object }): KubeObject => {
            const made = fingerprinted(object);
            const metadata = { ...made.metadata, uid: `uid-${made.kind}`, resourceVersion: '1' };
            const spec = made.kind === 'CronJob' ? { spec: { ...(made.spec as object), suspend } } : {};
            return { ...made, ...spec, metadata };
          }),
      );

    it('is left alone while it agrees', async () => {
      expect(await look(account(willing), live(false))).toMatchObject({ steps: [], plan: { outcome: settled } });
    });

    it('begins no more runs once it agrees no more, and says so', async () => {
      const { plan, phase } = await look(account({}), live(false));
      expect(plan.outcome).toMatchObject({ state: 'blocked', reason: 'ServiceAccountRefused' });
      expect(phase).toBe('Blocked');
      expect(plan.steps).toMatchObject([
        {
          type: 'patch',
          ref: { name: 'schedule-nightly', uid: 'uid-CronJob' },
          patch: { spec: { suspend: true } },
          changes: [{ path: 'spec.suspend', from: false, to: true }],
        },
      ]);
      const { steps, plan: later } = await look(account({}), live(true));
      expect([steps, later.outcome]).toMatchObject([[], { state: 'blocked', reason: 'ServiceAccountRefused' }]);
    });

    it('is not sent elsewhere once it agrees no more', async () => {
      const { steps } = await look(account({}), live(false), { ...injected, bucket: 'another' });
      expect(steps).toEqual(['patch CronJob schedule-nightly']);
    });

    it('is left behind for another one that agrees', async () => {
      const both = async (name: string) => (name === 'other' ? account(willing) : account({}));
      const io = timeOnly(undefined, undefined, (_, name) => both(name));
      const moved = scheduleOf({ ...injected, serviceAccountName: 'other' });
      const { plan } = await engineOf('BackupSchedule').assess(moved, live(false), io, db);
      expect(plan.outcome).toEqual(settled);
      expect(plan.steps.map(describeStep)).toEqual(['update CronJob schedule-nightly']);
    });

    it('is left alone while it is being deleted', async () => {
      const going = childrenOf(
        live(false).objects.map((object) => ({
          ...object,
          metadata: { ...object.metadata, deletionTimestamp: '2026-11-21T03:00:00Z' },
        })),
      );
      const { steps, plan } = await look(account({}), going);
      expect([steps, plan.outcome]).toMatchObject([[], { state: 'blocked', reason: 'ServiceAccountRefused' }]);
    });

    it('begins runs again once it agrees again', async () => {
      expect((await look(account(willing), live(true))).steps).toEqual(['update CronJob schedule-nightly']);
    });

    it('is left alone where the ServiceAccount is gone: no pod starts', async () => {
      const { steps, plan } = await look(undefined, live(false));
      expect([steps, plan.outcome]).toMatchObject([[], { state: 'wait', reason: 'ServiceAccountMissing' }]);
    });
  });
});
