/** How large a database may grow: with its log it has to fit on its volume. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { quotaOf } from '../../../src/engines/etcd/quota.ts';
import { specWarnings } from '../../../src/engines/etcd/warnings.ts';
import { fingerprinted } from '../../../src/plan/difference.ts';
import { etcdCluster, type Story } from '../../support/etcd-situation.ts';
import { planned } from '../../support/etcd-words.ts';
import { stored } from '../../support/stored-object.ts';

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

/** As an operator has written them that left the log no room. */
const before: NonNullable<Story['children']> = (objects) =>
  objects.map((object) => {
    if (object.kind !== 'StatefulSet') return object;
    const now = String(quotaOf(etcdCluster().spec));
    const { status, ...rest } = JSON.parse(JSON.stringify(object).replaceAll(now, '644245094')) as KubeObject;
    const annotations = { ...rest.metadata.annotations };
    delete annotations['clusterwright.dev/desired'];
    const made = stored(fingerprinted({ ...rest, metadata: { ...rest.metadata, annotations } }));
    return { ...made, status } as KubeObject;
  });
const sets = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('apply StatefulSet'));

describe('members that an earlier operator has given a larger quota by default', () => {
  it('are not restarted for it', () => {
    expect(planned({ children: before })).toEqual(['settled']);
  });

  it('get the present one with the next change', () => {
    const lines = planned({ children: before, before: {}, spec: { resources: { limits: { memory: '1Gi' } } } });
    expect(sets(lines)).toEqual([0, 1, 2].map((i) => expect.stringMatching(`^apply StatefulSet db-${i}: .*QUOTA`)));
  });

  it('get at once what the spec names', () => {
    const lines = planned({ children: before, before: {}, spec: { config: { quotaBackend: '300Mi' } } });
    expect(sets(lines)).toHaveLength(3);
  });

  it('get at once a larger one, with a larger volume', () => {
    const lines = planned({ children: before, before: {}, spec: { storage: { size: '2Gi' } } });
    expect(sets(lines)).toHaveLength(3);
  });
});
