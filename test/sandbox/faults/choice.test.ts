import { describe, expect, it } from 'vitest';
import type { FoundPod } from '../../../src/sandbox/faults/pod.ts';
import { chooseContainer, signalOf } from '../../../src/sandbox/faults/process.ts';
import { chooseClaim, type VolumeChoice } from '../../../src/sandbox/faults/volume.ts';

const pod: FoundPod = {
  ref: { namespace: 't', name: 'p' },
  node: 'node1',
  address: '10.244.1.2',
  containers: [
    {
      name: 'database',
      id: '1',
      mounts: [
        { volume: 'data', path: '/data' },
        { volume: 'wal', path: '/data/wal' },
        { volume: 'tmp', path: '/tmp' },
      ],
    },
    { name: 'exporter', id: '2', mounts: [] },
  ],
  claims: [
    { volume: 'data', claim: 'data-p' },
    { volume: 'wal', claim: 'wal-p' },
  ],
};

describe('the volume of a pod', () => {
  const cases: readonly [string, VolumeChoice, string | RegExp][] = [
    ['by claim', { claim: 'wal-p' }, 'wal-p'],
    ['by mount path', { path: '/data' }, 'data-p'],
    ['by a directory below a mount', { path: '/data/base' }, 'data-p'],
    ['by the innermost of nested mounts', { path: '/data/wal/1' }, 'wal-p'],
    [
      'not by a path that only begins alike',
      { path: '/database' },
      /no such volume in t\/p; its claims: data-p, wal-p/,
    ],
    ['not where the path is no claim', { path: '/tmp' }, /no such volume/],
    ['not by a claim it has not', { claim: 'other' }, /no such volume/],
    ['not when several fit', {}, /several claims, name one: data-p, wal-p/],
  ];
  it.each(cases)('is chosen %s', (_, choice, expected) => {
    if (typeof expected === 'string') expect(chooseClaim(pod, choice)).toBe(expected);
    else expect(() => chooseClaim(pod, choice)).toThrow(expected);
  });

  it('needs no choice where there is one', () => {
    expect(chooseClaim({ ...pod, claims: pod.claims.slice(0, 1) }, {})).toBe('data-p');
  });
});

describe('the container of a pod', () => {
  it('is named where there are several', () => {
    expect(chooseContainer(pod, 'exporter').id).toBe('2');
    expect(() => chooseContainer(pod, undefined)).toThrow(/several containers, name one: database, exporter/);
    expect(() => chooseContainer(pod, 'x')).toThrow(/no container x; it has: database, exporter/);
  });

  it('needs no name where there is one', () => {
    expect(chooseContainer({ ...pod, containers: pod.containers.slice(0, 1) }, undefined).name).toBe('database');
  });
});

it('a signal is known by its name, long or short', () => {
  expect([signalOf('KILL'), signalOf('SIGSTOP')]).toEqual(['SIGKILL', 'SIGSTOP']);
  expect(() => signalOf('FOO')).toThrow(/no signal FOO/);
});
