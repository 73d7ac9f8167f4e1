/** What the sandbox asks of the machine before it touches it. */
import { SandboxError } from './error.ts';
import { readIfThere } from './file.ts';

/** Names of this machine's architecture: of container images, and of npm packages. */
export interface Architecture {
  readonly image: 'amd64' | 'arm64';
  readonly npm: 'x64' | 'arm64';
}

/** @throws SandboxError for anything but Linux on amd64 or arm64. */
export function architecture(platform: string = process.platform, arch: string = process.arch): Architecture {
  if (platform !== 'linux') {
    throw new SandboxError(`the sandbox needs Linux (Debian 12), this is ${platform}; use a Linux machine or a VM`);
  }
  switch (arch) {
    case 'x64':
      return { image: 'amd64', npm: 'x64' };
    case 'arm64':
      return { image: 'arm64', npm: 'arm64' };
    default:
      throw new SandboxError(`the sandbox runs on amd64 and arm64, not on ${arch}`);
  }
}

/** @throws SandboxError unless this process is root's. */
export function requireRoot(uid: number | undefined = process.getuid?.()): void {
  if (uid === 0) return;
  throw new SandboxError(
    'the sandbox needs root: it mounts, makes network interfaces and cgroups. Run the same command with sudo',
  );
}

/**
 * @param osRelease the text of `/etc/os-release`
 * @throws SandboxError unless the system is Debian or made from it
 */
export function requireDebian(osRelease: string): void {
  const field = (name: string): string => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(osRelease)?.[1] ?? '';
  if ([field('ID'), ...field('ID_LIKE').split(' ')].includes('debian')) return;
  const found = field('PRETTY_NAME') || 'a system without /etc/os-release';
  throw new SandboxError(`the sandbox installs Debian packages and is made for Debian 12; this is ${found}`);
}

/** All of the above. */
export async function checkMachine(): Promise<void> {
  architecture();
  requireRoot();
  requireDebian((await readIfThere('/etc/os-release')) ?? '');
}
