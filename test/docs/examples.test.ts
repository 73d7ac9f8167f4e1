/** Every custom resource that a page shows whole is one that would be accepted. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { apiVersionOf, type KubeObject } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { handlers as engines } from '../support/handlers.ts';

const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`);

const examples = ['README.md', ...pages].flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/```ya?ml\n(.*?)```/gs)].flatMap(([, block = '']) =>
    parseAllDocuments(block).flatMap((document) => {
      const object = document.toJS() as KubeObject | null;
      const engine = engines.find(({ kind }) => kind.resource.kind === object?.kind);
      const isOurs = engine !== undefined && object?.apiVersion === apiVersionOf(engine.kind.resource);
      return isOurs ? [{ page, kind: object.kind, name: object.metadata.name, object, engine }] : [];
    }),
  ),
);

describe('an example', () => {
  it('of each kind is there', () => {
    expect([...new Set(examples.map(({ kind }) => kind))].sort()).toEqual(
      engines.map(({ kind }) => kind.resource.kind).sort(),
    );
  });

  it.each(examples)('of $page, $kind $name, is valid', ({ engine, object }) => {
    expect(validateCluster(engine.kind, object)).toMatchObject({ ok: true });
  });
});
