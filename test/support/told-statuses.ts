/** Every status that a test has an API server store, and at the end of each test whether one contradicts itself. */
import { afterEach, expect } from 'vitest';
import { statusContradictions, type ToldObject } from './status-contradictions.ts';

const found: string[] = [];

export function tell(object: ToldObject): void {
  for (const words of statusContradictions(object)) found.push(`${words}: ${JSON.stringify(object.status)}`);
}

afterEach(() => {
  expect(found.splice(0), 'a status contradicts itself').toEqual([]);
});
