/** Where the images of a database come from. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { imageRegistryFault, inRegistry } from '../../src/api/image.ts';
import { imageList } from '../../src/charts/images.ts';
import { engines } from '../../src/engines/index.ts';
import { handlersOf } from '../../src/jobs/handlers.ts';
import { resourceOf } from '../support/backup-story.ts';

const registry = 'registry.example:5000/mirror';
const released = handlersOf(engines);
const mirrored = handlersOf(engines, undefined, { imageRegistry: registry });

/** Every value of a field `image`, and of the variable that names the image of Jobs. */
function imagesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  if (typeof value !== 'object' || value === null) return [];
  const { name, value: text } = value as { readonly name?: unknown; readonly value?: unknown };
  const told = name === 'CLUSTERWRIGHT_AGENT_IMAGE' ? [String(text)] : [];
  return [
    ...told,
    ...Object.entries(value).flatMap(([key, each]) =>
      key === 'image' && typeof each === 'string' ? [each] : imagesIn(each),
    ),
  ];
}

const target = { claim: { name: 'backups' } };
const backup = { target };
const restored = { bootstrap: { restore: { target } } };
const imported = {
  bootstrap: {
    importFrom: {
      host: 'old.example',
      user: 'a',
      password: { name: 'a' },
      tls: { ca: { name: 'a' } },
      logical: { database: 'a' },
    },
  },
};

const specs: readonly (readonly [kind: string, spec: object])[] = [
  ['RedisCluster', {}],
  ['RedisCluster', { mode: 'Standalone', replicas: 1, version: '7.0' }],
  ['RedisCluster', { monitoring: {}, proxy: {} }],
  ['RedisCluster', restored],
  ['EtcdCluster', {}],
  ['EtcdCluster', { version: '3.5.35', ...restored }],
  ['PostgresCluster', {}],
  ['PostgresCluster', { version: '18', pooler: {}, monitoring: {}, backup: { ...backup, archive: {} } }],
  ['PostgresCluster', restored],
  ['PostgresCluster', imported],
];

/** What a new cluster is made of, and what its plan makes of it. */
function imagesOf(handlers: typeof released, kind: string, spec: object): string[] {
  const handler = handlers.find((each) => each.kind.resource.kind === kind);
  if (handler === undefined) throw new Error(kind);
  const cluster = resourceOf(kind, 'db', spec);
  const template = handler.backup?.restoreTemplate(cluster);
  return imagesIn([handler.resources(cluster), handler.planOffline(cluster), template]);
}

describe.each(specs)('a %s with %j', (kind, spec) => {
  it('runs the released images, each from the registry of the operator where it has one', () => {
    const before = imagesOf(released, kind, spec);
    expect(before.length).toBeGreaterThan(0);
    expect(before.filter((image) => image.startsWith(registry))).toEqual([]);
    expect(imagesOf(mirrored, kind, spec)).toEqual(before.map((image) => inRegistry(image, registry)));
  });
});

it.each([
  ['RedisCluster', { image: 'mine.example/redis:8.0', monitoring: { image: 'mine.example/exporter:1' } }],
  ['EtcdCluster', { image: 'mine.example/etcd:v3.6.16', ...restored }],
  [
    'PostgresCluster',
    {
      image: 'mine.example/postgres:17',
      pooler: { image: 'mine.example/pgbouncer:1' },
      monitoring: { image: 'mine.example/exporter:1' },
    },
  ],
])('an image that a %s names stays as it is', (kind, spec) => {
  const images = imagesOf(mirrored, kind, spec).filter((image) => !image.startsWith(`${registry}/clusterwright:`));
  expect(new Set(images)).toEqual(new Set(imagesIn(spec)));
});

it('what is built of a cluster is built once', () => {
  const [handler] = mirrored;
  const cluster = resourceOf('RedisCluster', 'db', {});
  const [[first], [second]] = [handler?.resources(cluster) ?? [], handler?.resources(cluster) ?? []];
  expect(first).toBe(second);
});

describe('dist/images.txt', () => {
  const images = readFileSync('dist/images.txt', 'utf8').trimEnd().split('\n');

  test('is the one that is committed; `npm run synth` writes it', () => {
    expect(`${images.join('\n')}\n`).toBe(imageList());
  });

  test('names whatever the manifests name', () => {
    const files = ['0001-operator.k8s.yaml', '0002-samples.k8s.yaml', '0003-backups.k8s.yaml'];
    const objects = files.flatMap((file) => parseAllDocuments(readFileSync(`dist/${file}`, 'utf8')));
    const named = imagesIn(objects.map((document) => document.toJS() as unknown));
    expect(named).toContain('clusterwright:0.1.0');
    expect(named.filter((image) => !images.includes(image))).toEqual([]);
  });

  test('names whatever databases run by default, and each version that a kind lists', () => {
    const specsOfImages = [
      ...specs.filter(([, spec]) => !('version' in spec)),
      ...['15', '16', '17', '18'].map(
        (version) => ['PostgresCluster', { version, pooler: {}, monitoring: {} }] as const,
      ),
    ];
    const run = specsOfImages.flatMap(([kind, spec]) => imagesOf(released, kind, spec));
    expect([...new Set(run)].sort()).toEqual(images);
  });

  test('is copied by the command in docs/install.md to where the operator then looks', () => {
    const [, script = ''] = /(sed -E '[^']+')/.exec(readFileSync('docs/install.md', 'utf8')) ?? [];
    const paths = execFileSync('sh', ['-c', script], { input: images.join('\n'), encoding: 'utf8' });
    expect(paths.trimEnd().split('\n')).toEqual(images.map((image) => inRegistry(image, 'r.example').slice(10)));
  });
});

test.each([
  ['docker.io/library/redis:8.0', 'r.example/library/redis:8.0'],
  ['gcr.io/etcd-development/etcd:v3.6.16', 'r.example/etcd-development/etcd:v3.6.16'],
  ['clusterwright:0.1.0', 'r.example/clusterwright:0.1.0'],
  ['team/clusterwright:0.1.0', 'r.example/team/clusterwright:0.1.0'],
  ['localhost/redis:8.0', 'r.example/redis:8.0'],
  ['r:5000/a/b@sha256:0', 'r.example/a/b@sha256:0'],
])('%s is %s at another registry', (image, moved) => {
  expect(inRegistry(image, 'r.example')).toBe(moved);
  expect(inRegistry(image, undefined)).toBe(image);
});

test.each([
  ['registry.example', true],
  ['registry.example:5000/mirror/of_all', true],
  ['localhost:5000', true],
  ['localhost', true],
  ['registry:5000', true],
  ['10.0.0.1/mirror', true],
  // Without a dot or a port, it is a path at docker.io.
  ['mirror', false],
  ['mirror/docker', false],
  ['', false],
  ['https://registry.example', false],
  ['registry.example/', false],
  ['registry.example/a:tag', false],
  ['Registry.example', false],
  ['registry.example/a b', false],
  ['registry.example\n', false],
  [`registry.example/${'a'.repeat(200)}`, false],
])('%j as a registry: %s', (text, isOne) => {
  expect(imageRegistryFault(text) === undefined).toBe(isOne);
});
