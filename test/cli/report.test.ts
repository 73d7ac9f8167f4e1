import { describe, expect, it } from 'vitest';
import { BadInput, CommandError } from '../../src/cli/fault.ts';
import { reportError } from '../../src/cli/report.ts';
import { ApiUnreachable } from '../../src/runtime/api-error.ts';
import { CredentialsError } from '../../src/runtime/credentials.ts';
import { SandboxError } from '../../src/sandbox/error.ts';
import { world } from './world.ts';

function said(error: unknown, debug = false): string {
  const cli = world({ program: 'kubectl clusterwright' });
  reportError(error, cli, debug);
  expect(cli.printed.out).toBe('');
  return cli.printed.err;
}

const refused = Object.assign(new Error('listen EADDRINUSE: address already in use :::8080'), { code: 'EADDRINUSE' });

describe('an error', () => {
  it.each([
    new CommandError('no such cluster'),
    new CredentialsError('~/.kube/config', 'cannot be read'),
    new ApiUnreachable('GET', '/version', false, new Error('refused')),
    new SandboxError('not root'),
    refused,
  ])('of the world around is one line: $message', (error) => {
    expect(said(error)).toBe(`kubectl clusterwright: ${error.message}\n`);
  });

  it('in the input is a line for each fault, which begins with its place', () => {
    const faults = [
      { source: 'a.yaml', line: 3, column: 5, path: 'spec.replicas', message: 'must be at most 9', rule: 'maximum 9' },
      { source: 'b.yaml', message: 'there is nothing in it' },
    ];
    expect(said(new BadInput(faults))).toBe(
      'a.yaml:3:5: spec.replicas: must be at most 9\n    rule: maximum 9\nb.yaml: there is nothing in it\n',
    );
  });

  it('of the program itself says that it is one, and shows where only when asked', () => {
    const defect = new TypeError('x is not a function');
    expect(said(defect)).toBe(
      'kubectl clusterwright: x is not a function\nThis is a defect of kubectl clusterwright; --debug shows where.\n',
    );
    expect(said(defect, true)).toMatch(/^\s+at /m);
  });
});
