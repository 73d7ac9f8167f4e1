/** The etcd programs that tests with real processes run: the sandbox's own, where they have been compiled. */
import { existsSync } from 'node:fs';
import { etcdPrograms } from '../../src/engines/etcd/images.ts';
import { binaryPath } from '../../src/sandbox/binaries.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

const layout = layoutOf(process.env);

/** Path by version; versions that are not compiled on this machine are left out. */
export const etcdBinaries: ReadonlyMap<string, string> = new Map(
  [etcdPrograms.current.server, etcdPrograms.before.server]
    .map((program) => [program.source.version.replace(/^v/, ''), binaryPath(layout, program)] as const)
    .filter(([, path]) => existsSync(path)),
);
