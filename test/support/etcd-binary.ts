/** The etcd programs that tests with real processes run: the sandbox's own, where they have been compiled. */
import { existsSync } from 'node:fs';
import { binaryPath } from '../../src/sandbox/binaries.ts';
import { layoutOf, versions } from '../../src/sandbox/layout.ts';

const layout = layoutOf(process.env);

/** Path by version; versions that are not compiled on this machine are left out. */
export const etcdBinaries: ReadonlyMap<string, string> = new Map(
  [['etcd', versions.etcd] as const, ['etcd-before', versions.etcdBefore] as const]
    .map(([name, version]) => [version.replace(/^v/, ''), binaryPath(layout, name)] as const)
    .filter(([, path]) => existsSync(path)),
);
