import { describe, expect, it } from 'vitest';
import { addresses, bridgeName, layoutOf, maxNodes, nodeLayouts, paths } from '../../src/sandbox/layout.ts';
import { neededPorts } from '../../src/sandbox/ports.ts';

const layout = layoutOf({ HOME: '/home/someone' });
const nodes = nodeLayouts(layout, maxNodes);

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

describe('the layout', () => {
  it('keeps run and data directories of an overridden sandbox together, and the default ones where they belong', () => {
    expect(layoutOf({})).toMatchObject({ run: '/run/clusterwright', data: '/var/lib/clusterwright' });
    expect(layoutOf({ CLUSTERWRIGHT_RUN: '/tmp/a', CLUSTERWRIGHT_CACHE: '/tmp/c' })).toEqual({
      run: '/tmp/a',
      data: '/tmp/a/data',
      cache: '/tmp/c',
    });
  });

  it('puts the lock outside the directory that goes with the sandbox', () => {
    expect(paths(layout).lock.startsWith(`${layout.run}/`)).toBe(false);
  });

  it('gives every node pod addresses that no other node, and no kubelet, has', () => {
    const ranges = nodes.map((node) => [numberOf(node.firstPodAddress), numberOf(node.lastPodAddress)] as const);
    const single = [addresses.bridge, ...nodes.map((node) => node.address)].map(numberOf);
    for (const [index, [first, last]] of ranges.entries()) {
      expect(first).toBeLessThan(last);
      expect(single.filter((address) => address >= first && address <= last)).toEqual([]);
      const next = ranges[index + 1];
      if (next !== undefined) expect(next[0]).toBeGreaterThan(last);
    }
  });

  it('holds every pod address inside the range by which a fault silences the node', () => {
    for (const node of nodes) {
      const prefix = node.podRange.replace(/0\/24$/, '');
      expect(node.podRange).toMatch(/\.0\/24$/);
      expect(node.firstPodAddress.startsWith(prefix)).toBe(true);
      expect(node.lastPodAddress.startsWith(prefix)).toBe(true);
    }
  });

  it('names the bridge within the fifteen characters of the kernel', () => {
    expect(bridgeName.length).toBeLessThanOrEqual(15);
  });

  it('listens on no address and port twice', () => {
    const all = neededPorts(layout, maxNodes).map(({ protocol, address, port }) => `${protocol} ${address}:${port}`);
    expect(new Set(all).size).toBe(all.length);
  });
});
