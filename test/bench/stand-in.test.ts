import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressOf, memberAt, members } from './stand-in.ts';
import { clusterName, clusterOf } from './workload.ts';

it('every member of every cluster has an address of its own, which tells who it is', () => {
  const member = fc.record({ cluster: fc.nat(5000), member: fc.nat(members - 1) });
  fc.assert(
    fc.property(member, (one) => {
      expect(memberAt(addressOf(one.cluster, one.member))).toEqual(one);
    }),
  );
  expect(memberAt('127.0.0.1')).toBeUndefined();
  expect(memberAt('10.10.0.10')).toBeUndefined();
});

it('an object is counted for the cluster whose name it bears, and for no other', () => {
  const name = clusterName(12);
  expect(['', '-auth', '-sentinel-0'].map((rest) => clusterOf(`${name}${rest}`))).toEqual([name, name, name]);
  expect(clusterOf(`rfr-${name}`)).toBe(name);
  expect(clusterOf(`data-${name}-0`)).toBe(name);
  expect(['kube-root-ca.crt', `x${name}`, `${name}0`].map(clusterOf)).toEqual([undefined, undefined, undefined]);
});
