/** What docs/install.md says about tests of charts, run. */
import { readFileSync } from 'node:fs';
import { Testing } from 'cdk8s';
import { expect, it } from 'vitest';
import { RedisCluster } from '../../src/constructs/clusters.ts';

const [, block = ''] = /### Test your charts\n.*?```js\n(.*?)```/s.exec(readFileSync('docs/install.md', 'utf8')) ?? [];
const lines = block.trim().split('\n');

/** Up to this line of the block, with the value of its last expression. */
function evaluated(count: number): unknown {
  const last = lines[count - 1]?.replace(/;.*$/, '');
  const program = `${lines.slice(0, count - 1).join('\n')}\nreturn ${last};`;
  return new Function('Testing', 'RedisCluster', program)(Testing, RedisCluster);
}

const commentOf = (line: number): string => lines[line - 1]?.replace(/^.*?\/\/ /, '') ?? '';

it('node.validate() returns the messages of the page', () => {
  expect(evaluated(3)).toEqual([commentOf(3).replace(/^\['|'\]$/g, '')]);
});

it('Testing.synth() throws the error of the page', () => {
  expect(commentOf(4)).toMatch(/^throws: \[test\/cache\] spec\.replicas: /);
  expect(() => evaluated(4)).toThrow(commentOf(4).replace('throws: ', ''));
});
