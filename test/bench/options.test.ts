import { describe, expect, it } from 'vitest';
import { parseOptions, UsageError } from './options.ts';

describe('the command line', () => {
  it('without arguments asks for everything of our own controller', () => {
    expect(parseOptions([])).toMatchObject({
      sizes: [1, 100, 1000, 5000],
      rates: [10, 50, 100],
      only: [],
      subject: { type: 'own', workload: { resource: { kind: 'RedisCluster' } } },
    });
  });

  it('takes sizes in any order', () => {
    expect(parseOptions(['--n', '1000,1,100']).sizes).toEqual([1, 100, 1000]);
  });

  it('takes another of our kinds', () => {
    const { subject } = parseOptions(['--kind', 'EtcdCluster']);
    expect(subject).toMatchObject({ type: 'own', workload: { resource: { kind: 'EtcdCluster' } } });
  });

  it('names a controller that runs already', () => {
    const args = '--kubeconfig k --user-agent op/ --kind Redis --manifest-template m.yaml --pid 12'.split(' ');
    expect(parseOptions(args).subject).toEqual({
      type: 'running',
      kubeconfig: 'k',
      userAgent: 'op/',
      kind: 'Redis',
      manifestTemplate: 'm.yaml',
      pid: 12,
    });
  });

  it.each([
    ['--n 1,many', /--n: "many" is not a whole number/],
    ['--n 1,,2', /--n: "" is not a whole number/],
    ['--rest 1,2', /--rest takes one number/],
    ['--only speed', /--only: speed is none of/],
    ['--fast', /--fast/],
    ['--kind Redis', /--kind: Redis is none of RedisCluster, EtcdCluster/],
    ['--pid 7', /needs --kubeconfig, --user-agent, --kind and --manifest-template/],
  ])('refuses %s', (line, message) => {
    const parse = (): unknown => parseOptions(line.split(' '));
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(message);
  });
});
