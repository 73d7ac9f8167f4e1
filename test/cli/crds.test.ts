import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { crds } from '../../src/cli/crds.ts';
import { kubectlYaml } from '../../src/cli/yaml.ts';
import { world } from './world.ts';

it('prints the CRDs that ship in dist/', async () => {
  const cli = world();
  expect(await crds({}, cli)).toBe(0);
  const documents = (text: string): unknown[] =>
    parseAllDocuments(text, kubectlYaml).map((document) => document.toJS());
  const shipped = await readFile(new URL('../../dist/0000-crds.k8s.yaml', import.meta.url), 'utf8');
  expect(documents(cli.printed.out)).toEqual(documents(shipped));
});
