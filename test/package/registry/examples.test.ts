/** The programs of `examples/`, by the commands of their READMEs. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packInto, run } from '../../support/installed-app.ts';
import { runIn } from '../../support/packed-package.ts';

const home = mkdtempSync(join(tmpdir(), 'clusterwright-examples-'));

beforeAll(() => {
  runIn(process.cwd(), 'npm', ['run', '--silent', 'build']);
  // Where `npm pack` puts it: two folders above each example.
  packInto(home);
  mkdirSync(join(home, 'examples'));
}, 180_000);
afterAll(() => rmSync(home, { recursive: true }));

test.each([
  ['platform-team', 'dist', 6],
  ['application', 'dist', 2],
  ['gitops', 'deploy', 13],
])(
  '%s installs, synthesizes and type-checks',
  (name, output, files) => {
    const folder = join(home, 'examples', name);
    cpSync(join('examples', name), folder, { recursive: true });
    run(folder, 'npm', 'i', '--no-audit', '--no-fund');
    run(folder, 'npx', 'cdk8s', 'synth');
    run(folder, 'npx', 'tsc');
    const manifests = readdirSync(join(folder, output), { recursive: true, encoding: 'utf8' });
    expect(manifests.filter((file) => file.endsWith('.k8s.yaml'))).toHaveLength(files);
  },
  300_000,
);
