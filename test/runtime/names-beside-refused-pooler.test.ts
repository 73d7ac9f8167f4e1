/** What is read of a deleted cluster whose `pooler` is refused: the names in its certificates are in `access`, which is valid. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { postgresKind } from '../../src/engines/postgres/kind/schema.ts';
import { deletionSpec } from '../../src/runtime/partial-spec.ts';
import { postgresCluster } from '../support/postgres-situation.ts';

it('the names are legible', () => {
  const { metadata, apiVersion, kind } = postgresCluster();
  const spec = { access: { names: ['db.example.com'] }, pooler: 3 };
  const ending = deletionSpec(postgresKind, { apiVersion, kind, metadata, spec } as KubeObject);
  expect(ending?.spec).toMatchObject({ access: { names: ['db.example.com'] } });
});
