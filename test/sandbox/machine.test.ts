import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/sandbox/error.ts';
import { isOlder, requireGo } from '../../src/sandbox/golang.ts';
import { architecture, requireDebian, requireRoot } from '../../src/sandbox/machine.ts';
import { checkAddresses } from '../../src/sandbox/network.ts';

const refuses = (act: () => unknown, text: RegExp): void => {
  expect(act).toThrow(SandboxError);
  expect(act).toThrow(text);
};

describe('a machine that will not do', () => {
  it('is not Linux', () => refuses(() => architecture('darwin', 'arm64'), /needs Linux.*this is darwin/));
  it('is of a strange architecture', () => refuses(() => architecture('linux', 'riscv64'), /not on riscv64/));
  it('is not ours: no root', () => refuses(() => requireRoot(1000), /needs root/));
  it('runs another system', () =>
    refuses(() => requireDebian('ID=fedora\nPRETTY_NAME="Fedora 41"\n'), /this is Fedora 41/));
  it('has the pods addresses on another interface', () => {
    refuses(() => checkAddresses({ flannel: [{ address: '10.244.7.1' }] }), /flannel has the address 10\.244\.7\.1/);
  });
});

describe('a machine that will do', () => {
  it('is Debian, or made from it', () => {
    requireDebian('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n');
    requireDebian('ID=ubuntu\nID_LIKE=debian\n');
    requireDebian('ID=mint\nID_LIKE="ubuntu debian"\n');
  });
  it('has our own bridge, and others beside', () => {
    checkAddresses({ clusterwright0: [{ address: '10.244.0.1' }], eth0: [{ address: '10.24.4.1' }] });
  });
});

describe('Go', () => {
  const says = (stdout: string) => async () => ({ code: 0, stdout, output: stdout });
  it('that is not there is asked for by version', async () => {
    const missing = new SandboxError('cannot run go', { cause: Object.assign(new Error('spawn'), { code: 'ENOENT' }) });
    await expect(requireGo(() => Promise.reject(missing))).rejects.toThrow(/no Go on this machine: Go 1\.25 or newer/);
  });
  it('that is too old is named', async () => {
    await expect(requireGo(says('go version go1.24.9 linux/amd64'))).rejects.toThrow(
      /Go 1\.24\.9 is too old: Go 1\.25/,
    );
  });
  it('that is new enough passes', async () => {
    await requireGo(says('go version go1.26.8 linux/amd64'));
    await requireGo(says('go version go1.25rc1 linux/amd64'));
  });
  it.each([
    ['1.24.13', true],
    ['1.25', false],
    ['1.25.1', false],
    ['1.100', false],
    ['2.0', false],
    ['0.99', true],
  ])('%s is older than 1.25: %s', (version, older) => {
    expect(isOlder(version, '1.25')).toBe(older);
  });
});
