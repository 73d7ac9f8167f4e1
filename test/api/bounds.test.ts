import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitted, shortened } from '../../src/api/bounds.ts';
import { schemaViolations } from '../../src/api/check.ts';
import { statusSchema } from '../../src/api/status-schema.ts';

describe('a text that is too long', () => {
  it('keeps its beginning, and no half of a character', () => {
    expect([shortened('abc', 3), shortened('abcd', 3), shortened('a😀cd', 3)]).toEqual(['abc', 'ab…', 'a…']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, limit) => {
        const short = shortened(text, limit);
        expect(short.length).toBeLessThanOrEqual(limit);
        expect(text.startsWith(short.replace(/…$/, '')) || text === short).toBe(true);
      }),
    );
  });
});

describe('a status', () => {
  it('that quotes a database at any length fits its schema', () => {
    const long = 'x'.repeat(200_024);
    const status = {
      phase: 'Blocked',
      version: long,
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          reason: 'A',
          message: long,
          observedGeneration: 1,
          lastTransitionTime: '2030-01-01T00:00:00Z',
        },
      ],
      members: Array.from({ length: 70 }, (_, i) => ({ name: `db-${i}`, role: long, ready: false })),
      plan: { blockedBy: long },
    };
    expect(schemaViolations(statusSchema, status)).not.toEqual([]);
    expect(schemaViolations(statusSchema, fitted(statusSchema, status))).toEqual([]);
  });

  it('that fits is as it was', () => {
    const status = { phase: 'Ready', members: [{ name: 'a', role: 'leader', ready: true }], replicas: 3 };
    expect(fitted(statusSchema, status)).toEqual(status);
  });
});
