/** Rules on what may change, held against an older manifest instead of a cluster. */
import { describe, expect, it } from 'vitest';
import { plan } from '../../src/cli/plan.ts';
import { render } from '../../src/cli/render.ts';
import { type World, world } from './world.ts';

const redis = (name: string, spec: string): string => `apiVersion: clusterwright.dev/v1alpha1
kind: RedisCluster
metadata:
  name: ${name}
spec: ${spec}
`;

function at(old: string, now: string): World {
  return world({ files: { 'old.yaml': old, 'now.yaml': now } });
}

const refusal =
  "now.yaml:5:9: spec.mode: mode can change from Standalone to Sentinel, and in no other way\n    rule: self == oldSelf || (oldSelf == 'Standalone' && self == 'Sentinel')";

describe('--from', () => {
  const old = redis('cache', '{ mode: Sentinel }');
  const now = redis('cache', '{ mode: Standalone, replicas: 1 }');

  it('refuses what the API server would refuse, in its words', async () => {
    await expect(plan({ subject: 'now.yaml', offline: true, from: 'old.yaml' }, at(old, now))).rejects.toThrow(refusal);
    await expect(render({ file: 'now.yaml', from: 'old.yaml' }, at(old, now))).rejects.toThrow(refusal);
  });

  it('takes what is not in the old manifest for new, and says so', async () => {
    const note = 'RedisCluster default/cache is not in old.yaml: it is taken for a new one\n';
    const rendered = at(redis('other', '{}'), now);
    expect(await render({ file: 'now.yaml', from: 'old.yaml' }, rendered)).toBe(0);
    expect(rendered.printed.err).toBe(note);
    const planned = at(redis('other', '{}'), now);
    expect(await plan({ subject: 'now.yaml', offline: true, from: 'old.yaml' }, planned)).toBe(2);
    expect(planned.printed.err).toBe(note);
  });

  it('has nothing to say of what is in it', async () => {
    const cli = at(old, old);
    expect(await plan({ subject: 'now.yaml', offline: true, from: 'old.yaml' }, cli)).toBe(2);
    expect(cli.printed.err).toBe('');
  });

  it('names the old manifest where that is what is wrong', async () => {
    const cli = at(redis('cache', '{ replicas: many }'), now);
    await expect(render({ file: 'now.yaml', from: 'old.yaml' }, cli)).rejects.toThrow(/^old\.yaml:5:9: spec.replicas/);
  });

  it('is for plans without a cluster', async () => {
    await expect(plan({ subject: 'now.yaml', from: 'old.yaml' }, at(old, now))).rejects.toThrow(
      '--from is for --offline',
    );
  });
});
