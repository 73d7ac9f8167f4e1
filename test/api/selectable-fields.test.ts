/** Fields that the API server can select by: it refuses a CRD with one that is no plain value of the schema. */
import { describe, expect, it } from 'vitest';
import { customResourceDefinition } from '../../src/api/crd.ts';
import { referencePage } from '../../src/api/reference.ts';
import type { StructuralSchema } from '../../src/api/schema.ts';
import { handlers } from '../support/handlers.ts';

function fieldAt(schema: StructuralSchema, path: string): StructuralSchema | undefined {
  return path
    .slice(1)
    .split('.')
    .reduce<StructuralSchema | undefined>((at, name) => at?.properties?.[name], schema);
}

describe.each(handlers)('$name', ({ kind }) => {
  const { selectableFields = [] } = kind;

  it('names at most eight plain values, each once', () => {
    expect(selectableFields.length).toBeGreaterThan(0);
    expect(selectableFields.length).toBeLessThanOrEqual(8);
    expect(new Set(selectableFields).size).toBe(selectableFields.length);
    for (const path of selectableFields) {
      expect(path).not.toMatch(/^\.metadata/);
      expect(['string', 'boolean', 'integer']).toContain(fieldAt(kind.schema, path)?.type);
    }
  });

  it('has them in its CRD and in its reference page', () => {
    const { versions } = customResourceDefinition(kind).spec as { versions: { selectableFields: object[] }[] };
    expect(versions.map((version) => version.selectableFields)).toEqual([
      selectableFields.map((jsonPath) => ({ jsonPath })),
    ]);
    for (const path of selectableFields) expect(referencePage(kind)).toContain(`\`${path.slice(1)}\``);
  });
});
