/** What people get wrong in a manifest, and the file, line, column, path and rule that they are told. */
import { describe, expect, it } from 'vitest';
import { displayPath } from '../../src/api/violation.ts';
import { BadInput, faultText } from '../../src/cli/fault.ts';
import { parsePath } from '../../src/cli/manifest.ts';
import { render } from '../../src/cli/render.ts';
import { world } from './world.ts';

const head = 'apiVersion: clusterwright.dev/v1alpha1\nkind: RedisCluster\nmetadata:\n  name: cache\n';

interface Row {
  readonly title: string;
  readonly text: string;
  /** The faults as they are printed, each up to its rule. */
  readonly says: readonly string[];
}

const rows: readonly Row[] = [
  { title: 'an empty file', text: '', says: ['f.yaml: there is nothing in it'] },
  { title: 'comments only', text: '# nothing\n---\n# here\n', says: ['f.yaml: there is nothing in it'] },
  {
    title: 'broken YAML',
    text: `${head}spec: {replicas: 3\nkind: x`,
    says: ['f.yaml:6:1: not YAML: '],
  },
  {
    title: 'a key twice',
    text: `${head}spec:\n  replicas: 3\n  replicas: 5\n`,
    says: ['f.yaml:7:3: not YAML: Map keys must be unique'],
  },
  {
    title: 'an anchor that is not there',
    text: `${head}spec: *other\n`,
    says: ['f.yaml:1:1: not YAML: Unresolved alias'],
  },
  { title: 'a list', text: '- a\n', says: ['f.yaml:1:1: must be a Kubernetes object'] },
  { title: 'no kind', text: 'apiVersion: v1\n', says: ['f.yaml:1:1: kind: is required, as a string'] },
  {
    title: 'a kind misspelt',
    text: head.replace('RedisCluster', 'RedisClutser'),
    says: ['f.yaml:2:1: kind: clusterwright.dev has no kind RedisClutser; its kinds are: RedisCluster'],
  },
  {
    title: 'a group misspelt',
    text: head.replace('clusterwright.dev', 'clusterwrihgt.dev'),
    says: ['f.yaml:1:1: apiVersion: must be clusterwright.dev/v1alpha1 for a RedisCluster'],
  },
  {
    title: 'another version',
    text: head.replace('v1alpha1', 'v2'),
    says: ['f.yaml:1:1: apiVersion: must be clusterwright.dev/v1alpha1 for a RedisCluster'],
  },
  {
    title: 'only kinds of others',
    text: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n',
    says: ['f.yaml: no object in it is of a kind of clusterwright.dev: RedisCluster'],
  },
  {
    title: 'a value out of bounds',
    text: `${head}spec:\n  replicas: 12\n`,
    says: ['f.yaml:6:3: spec.replicas: must be at most 9\n    rule: maximum 9'],
  },
  {
    title: 'sizes and times in other units',
    text: `${head}spec:\n  storage: {size: 10GB}\n  sentinel: {downAfter: 1h}\n`,
    says: [
      'f.yaml:7:14: spec.sentinel.downAfter: must be a duration such as 500ms, 3s or 2m',
      'f.yaml:6:13: spec.storage.size: must be a quantity such as 500m, 2 or 10Gi',
    ],
  },
  {
    title: 'an image without a tag, and an address without a range',
    text: `${head}spec:\n  image: redis\n  access: {primary: {type: LoadBalancer, sourceRanges: [10.0.0.1]}}\n`,
    says: [
      'f.yaml:7:57: spec.access.primary.sourceRanges[0]: must be a range of addresses, such as 10.0.0.0/8',
      'f.yaml:6:3: spec.image: must be an image with a tag or a digest, such as registry.example/path/name:1.0',
    ],
  },
  {
    title: 'an unknown field',
    text: `${head}spec:\n  version: "8.0"\n  replcas: 3\n`,
    says: ['f.yaml:7:3: spec.replcas: unknown field'],
  },
  {
    title: 'a version that is a number',
    text: `${head}spec:\n  version: 8.0\n`,
    says: ['f.yaml:6:3: spec.version: must be a string, and is the number 8: in YAML it takes quotes\n'],
  },
  {
    title: 'a flag where a word belongs: `no` is no string',
    text: `${head}spec:\n  config:\n    appendfsync: no\n`,
    says: ['f.yaml:7:5: spec.config.appendfsync: must be a string, and is the boolean false: in YAML it takes quotes'],
  },
  {
    title: 'a rule over several fields, told at the field that it is about',
    text: `${head}spec:\n  sentinel:\n    replicas: 5\n    quorum: 2\n`,
    says: ['f.yaml:8:5: spec.sentinel.quorum: sentinel.quorum must be more than half'],
  },
  {
    title: 'a rule about a field that is not written, told at what is around it',
    text: `${head}spec:\n  sentinel:\n    replicas: 5\n`,
    says: ['f.yaml:6:3: spec.sentinel.quorum: sentinel.quorum must be more than half'],
  },
  {
    title: 'a field of a list item',
    text: `${head}spec:\n  scheduling:\n    tolerations:\n      - key: a\n        operator: Exists\n      - key: b\n        operator: Sometimes\n`,
    says: ['f.yaml:11:9: spec.scheduling.tolerations[1].operator: must be one of'],
  },
  {
    title: 'a value behind an anchor',
    text: `${head}spec:\n  resources: &r\n    limits: {memory: 1Gi}\n  sentinel:\n    resources: *r\n    replicas: 4\n`,
    says: ['f.yaml:10:5: spec.sentinel.replicas: must be one of 3, 5, 7'],
  },
  {
    title: 'several documents, each with its own fault',
    text: `${head}spec: {replicas: 0}\n---\n${head}spec: {mode: Sharded}\n`,
    says: ['f.yaml:5:8: spec.replicas: must be at least 1', 'f.yaml:11:8: spec.mode: must be one of'],
  },
  {
    title: 'an item of a List',
    text: `apiVersion: v1\nkind: List\nitems:\n  - apiVersion: clusterwright.dev/v1alpha1\n    kind: RedisCluster\n    metadata: {name: a}\n    spec:\n      replicas: 0\n`,
    says: ['f.yaml:8:7: spec.replicas: must be at least 1'],
  },
  {
    title: 'no name',
    text: `${head.replace('  name: cache\n', '  labels: {}\n')}spec: {}\n`,
    says: ['f.yaml:3:1: metadata.name: is required'],
  },
  {
    title: 'JSON',
    text: '{"apiVersion": "clusterwright.dev/v1alpha1", "kind": "RedisCluster",\n "metadata": {"name": "a"},\n "spec": {"replicas": 0}}',
    says: ['f.yaml:3:11: spec.replicas: must be at least 1'],
  },
];

async function faultsOf(text: string): Promise<string[]> {
  const error = await render({ file: 'f.yaml' }, world({ files: { 'f.yaml': text } })).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BadInput);
  return error instanceof BadInput ? error.faults.map(faultText) : [];
}

describe('bad input', () => {
  it.each(rows)('$title', async ({ text, says }) => {
    const faults = await faultsOf(text);
    expect(faults.map((fault, i) => fault.slice(0, (says[i] ?? '').length))).toEqual(says);
  });

  it('says when there is no file', async () => {
    await expect(render({ file: 'f.yaml' }, world())).rejects.toThrow('f.yaml: there is no such file');
  });

  it('calls standard input by its name', async () => {
    await expect(render({ file: '-' }, world({ stdin: 'a: [' }))).rejects.toThrow(/^standard input:1:\d+: not YAML/);
  });

  it('refuses a file that is made of aliases of aliases', async () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`);
    const [fault] = await faultsOf(['a0: &a0 [x]', ...levels].join('\n'));
    expect(fault).toContain('not YAML: Excessive alias count');
  });

  it.each([[['spec', 'tolerations', 0, 'key']], [['metadata', 'labels', 'example.com/team']], [['a-b', 3, 4]]])(
    'takes a displayed path apart again: %j',
    (path) => {
      expect(parsePath(displayPath(path))).toEqual(path);
    },
  );
});
