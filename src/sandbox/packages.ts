/** Debian packages that the sandbox needs; the missing ones are installed, and said. */
import { attempt, run } from './command.ts';
import type { Progress } from './progress.ts';

/** By what they are for. A control plane alone needs only the first. */
export const packages = {
  keys: ['openssl'],
  nodes: [
    'containerd',
    'runc',
    'containernetworking-plugins',
    'iptables',
    'iproute2',
    'conntrack',
    'ethtool',
    'socat',
    'mount',
    'e2fsprogs',
    'busybox-static',
  ],
  images: ['mmdebstrap', 'busybox-static', 'tar'],
} as const;

export async function installMissing(wanted: readonly string[], progress: Progress): Promise<void> {
  const missing = await missingPackages(wanted);
  if (missing.length === 0) return;
  await progress.step(`Installing ${missing.join(', ')}`, async (step) => {
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    step.report('package lists');
    await run('apt-get', ['update', '-q'], { env });
    const onLine = (line: string): void => {
      const [, verb, name] = /^(Unpacking|Setting up) (\S+)/.exec(line) ?? [];
      if (verb !== undefined) step.report(`${verb.toLowerCase()} ${name}`);
    };
    await run('apt-get', ['install', '-yq', '--no-install-recommends', ...missing], { env, onLine });
  });
}

async function missingPackages(wanted: readonly string[]): Promise<readonly string[]> {
  // Exits 1 when it does not know some of them, and lists the others all the same.
  const result = await attempt('dpkg-query', ['--status', ...wanted]);
  return notInstalled(wanted, result.stdout);
}

/** Those of `wanted` that what `dpkg-query --status` printed does not tell to be installed, each once. */
export function notInstalled(wanted: readonly string[], status: string): readonly string[] {
  const stanzas = status.split(/\n\n(?=Package: )/);
  const installed = stanzas.flatMap((stanza) =>
    /^Status: \S+ \S+ installed$/m.test(stanza) ? [/^Package: (\S+)$/m.exec(stanza)?.[1]] : [],
  );
  return [...new Set(wanted)].filter((name) => !installed.includes(name));
}
