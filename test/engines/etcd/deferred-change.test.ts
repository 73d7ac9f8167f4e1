/** The probe that was changed reaches members without restarting those that do not need it. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { livenessPath } from '../../../src/engines/etcd/resources/pods.ts';
import { fingerprinted } from '../../../src/plan/difference.ts';
import { stored } from '../../../src/testing/stored-object.ts';
import type { Story } from '../../support/etcd-situation.ts';
import { planned } from '../../support/etcd-words.ts';

/** As an operator has written them that asked `/livez`. */
const before: NonNullable<Story['children']> = (objects) =>
  objects.map((object) => {
    if (object.kind !== 'StatefulSet') return object;
    const { status, ...rest } = JSON.parse(JSON.stringify(object).replaceAll(livenessPath, '/livez')) as KubeObject;
    const annotations = { ...rest.metadata.annotations };
    delete annotations['clusterwright.dev/desired'];
    const made = stored(fingerprinted({ ...rest, metadata: { ...rest.metadata, annotations } }));
    return { ...made, status } as KubeObject;
  });
const gibibyte = 1024 ** 3;
const sets = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('apply StatefulSet'));

describe('members that are asked /livez by an earlier template', () => {
  it('keep it while their database is small', () => {
    expect(planned({ children: before })).toEqual(['settled']);
  });

  it('keep it where only a record of the CAs that they trust would come with it', () => {
    const spec = { tls: { client: { secretRef: { name: 'mine' } } } };
    const observed = { authorities: 'now', given: { client: { cas: ['a'], signers: ['a'] } } };
    const story: Story = { spec, authorities: 'now', observed };
    expect(planned({ ...story, children: before })).toEqual(['settled']);
    expect(sets(planned(story))).toEqual(
      [0, 1, 2].map((i) => `apply StatefulSet db-${i}: metadata.annotations[clusterwright.dev/trusted-cas]`),
    );
  });

  it('get the other one when a database has grown', () => {
    const large = { dbSize: 1.1 * gibibyte, dbInUse: 1.1 * gibibyte };
    const lines = planned({ children: before, members: { 1: large } });
    expect(sets(lines)).toEqual(
      [0, 1, 2].map((i) => expect.stringMatching(`^apply StatefulSet db-${i}: .*livenessProbe`)),
    );
  });

  it('get it with any other change', () => {
    const lines = planned({ children: before, before: {}, spec: { resources: { limits: { memory: '1Gi' } } } });
    expect(sets(lines)).toEqual(
      [0, 1, 2].map((i) => expect.stringMatching(`^apply StatefulSet db-${i}: .*livenessProbe`)),
    );
  });
});

it('a template that only loses fields is written', () => {
  const lines = planned({ spec: {}, before: { scheduling: { nodeSelector: { disk: 'ssd' } } } });
  expect(sets(lines)).toEqual([0, 1, 2].map((i) => `apply StatefulSet db-${i}: `));
});
