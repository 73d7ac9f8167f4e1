import { describe, expect, it } from 'vitest';
import { childKinds } from './census.ts';
import { childrenToCreate, clusterName, clusterOf, type OwnWorkload, ownWorkloads, understood } from './workload.ts';

function childrenOf(workload: OwnWorkload) {
  const manifest = workload.manifest(clusterName(7), 'bench');
  const metadata = { ...manifest.metadata, uid: '00000000-0000-4000-8000-000000000000', generation: 1 };
  return childrenToCreate(workload, understood(workload, { ...manifest, metadata }));
}

describe.each(ownWorkloads)('a $resource.kind of the bench', (workload) => {
  const children = childrenOf(workload);

  it('has only managed resources that the census counts', () => {
    const counted = childKinds.map(({ kind }) => kind);
    expect(children.filter(({ kind }) => !counted.includes(kind))).toEqual([]);
    expect(children.filter(({ metadata }) => clusterOf(metadata.name) !== clusterName(7))).toEqual([]);
  });

  it('has every Secret that its pods mount', () => {
    const text = JSON.stringify(children.filter(({ kind }) => kind === 'StatefulSet'));
    const mounted = [...text.matchAll(/"(?:secretName|secret":\{(?:"items":\[[^\]]*\],)?"name)":"([^"]+)"/g)];
    const made = children.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name);
    expect(mounted.map(([, name = '']) => name).filter((name) => !made.includes(name))).toEqual([]);
  });
});
