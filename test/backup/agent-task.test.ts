/** Tasks: what is understood, and in which words the rest is refused. */

import { describe, expect, it } from 'vitest';
import { BadTask, parseAgentTask } from '../../src/backup/agent-task.ts';
import { drivers } from '../../src/engines/drivers.ts';

const take = {
  task: 'take',
  cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: '0f3a-1' },
  purpose: { type: 'schedule', name: 'nightly', uid: 'uid' },
  source: {
    engine: 'redis',
    members: [{ host: 'cache-0.cache.apps.svc', port: 6379 }],
    passwordFile: '/secret/password',
  },
  target: {
    type: 's3',
    endpoint: 'https://s3.example.com:9000',
    bucket: 'backups',
    accessKeyIdFile: '/s3/id',
    secretAccessKeyFile: '/s3/secret',
  },
  encryptionKeyFile: '/key/key',
  retention: { count: 7 },
} as const;

const fetchTask = {
  task: 'fetch',
  target: { type: 'claim', directory: '/backups' },
  which: { id: '20261121T124501Z-1a2b3c4d' },
  destination: { engine: 'redis', directory: '/data' },
} as const;

const parse = (task: unknown) => parseAgentTask(JSON.stringify(task), drivers);

describe('a task that lacks what it needs', () => {
  const { accessKeyIdFile: _, ...half } = take.target;
  const { secretAccessKeyFile: __, ...none } = half;
  const verify = { task: 'verify', target: fetchTask.target, which: {}, engine: 'etcd' };
  const list = { task: 'list', target: fetchTask.target, which: {} };
  const without = (task: object, field: string) =>
    parse(Object.fromEntries(Object.entries(task).filter(([name]) => name !== field)));

  it.each<readonly [string, object]>([
    ['cluster', take],
    ['purpose', take],
    ['source', take],
    ['target', take],
    ['which', fetchTask],
    ['destination', fetchTask],
    ['which', verify],
    ['engine', verify],
    ['which', list],
  ])('%s is refused', (field, task) => {
    expect(parse(task)).toMatchObject(task);
    expect(() => without(task, field)).toThrow(`${field} is required`);
  });

  it('both parts of credentials, or none where the pod has an identity', () => {
    expect(() => parse({ ...take, target: half })).toThrow(BadTask);
    expect(parse({ ...take, target: none })).toMatchObject({ target: none });
  });

  it.each([null, 'take', 7])('%j is none', (task) => expect(() => parse(task)).toThrow('the task is no object'));
});

describe('a task', () => {
  it('is filled up with what goes without saying', () => {
    expect(parse(take)).toEqual({
      ...take,
      target: { ...take.target, region: 'us-east-1', prefix: '', pathStyle: true },
      jitterSeconds: 0,
      idleTimeoutSeconds: 60,
    });
    expect(parse(fetchTask)).toMatchObject({ target: { prefix: '' } });
  });

  it.each<[string, unknown, RegExp]>([
    ['no object', [], /the task is no object/],
    ['of no kind', {}, /task is required/],
    ['of a kind that nobody knows', { ...fetchTask, task: 'drop' }, /task must be one of take, fetch, verify, list/],
    ['with a target of no kind', { ...fetchTask, target: {} }, /target\.type is required/],
    [
      'with a target that nobody knows',
      { ...fetchTask, target: { type: 'ftp' } },
      /target\.type must be one of s3, claim/,
    ],
    ['with a field too many', { ...take, source: { ...take.source, force: 1 } }, /source\.force is not known/],
    [
      'with a field of another variant',
      { ...fetchTask, destination: { engine: 'etcd', directory: '/data' } },
      /destination\.directory is not known; destination\.file is required/,
    ],
    [
      'with a relative path',
      { ...fetchTask, destination: { engine: 'redis', directory: 'data' } },
      /destination\.directory must match/,
    ],
    [
      'with an endpoint that is none',
      { ...take, target: { ...take.target, endpoint: 'ftp://x' } },
      /target\.endpoint must match/,
    ],
    [
      'with credentials in the endpoint',
      { ...take, target: { ...take.target, endpoint: 'http://a:b@x' } },
      /target\.endpoint must match/,
    ],
    [
      'with a prefix that climbs',
      { ...fetchTask, target: { ...fetchTask.target, prefix: 'a/../b' } },
      /target\.prefix must match/,
    ],
    [
      'with a prefix that ends with a slash',
      { ...fetchTask, target: { ...fetchTask.target, prefix: 'a/' } },
      /target\.prefix must match/,
    ],
    ['with a UID that climbs', { ...take, cluster: { ...take.cluster, uid: '../x' } }, /cluster\.uid must match/],
    ['with no members', { ...take, source: { engine: 'redis', members: [] } }, /source\.members must have at least/],
    [
      'with a source of another kind',
      { ...take, cluster: { ...take.cluster, kind: 'EtcdCluster' } },
      /source\.engine redis does not fit cluster\.kind EtcdCluster/,
    ],
    [
      'with retention for what is on demand',
      { ...take, purpose: { type: 'backup', name: 'now' } },
      /retention is for a purpose of type schedule/,
    ],
    ['with retention that keeps nothing', { ...take, retention: { count: 0 } }, /retention\.count must be at least 1/],
    ['with an id that is none', { ...fetchTask, which: { id: 'latest' } }, /which\.id must match/],
  ])('%s is refused', (_, task, message) => {
    expect(() => parse(task)).toThrow(BadTask);
    expect(() => parse(task)).toThrow(message);
  });

  it.each(['', 'a', 'team-1/backups', 'a.b/c_d=e', '...x'])('may have the prefix %j', (prefix) => {
    expect(parse({ ...fetchTask, target: { ...fetchTask.target, prefix } })).toMatchObject({ target: { prefix } });
  });

  it('that is not JSON is refused', () => {
    expect(() => parseAgentTask('{', drivers)).toThrow(/the task is not JSON/);
  });
});
