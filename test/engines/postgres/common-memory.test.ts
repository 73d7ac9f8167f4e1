/** `shared_buffers` of a user while a template with more memory waits for its window. */
import { expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { withCommonSettings } from '../../../src/engines/postgres/plan/common-settings.ts';
import { postgresWorld } from '../../support/postgres-situation.ts';

const memory = (size: string, parameters: Readonly<Record<string, string>> = {}) => ({
  resources: { limits: { memory: size } },
  parameters,
});

it.each<readonly [string, string | undefined, string | undefined, string | undefined]>([
  ['a larger one waits', '4GB', '512MB', '512MB'],
  ['a larger one waits, also in blocks', '65537', '512MB', '512MB'],
  ['a smaller one counts at once', '256MB', '512MB', '256MB'],
  ['a smaller one counts at once, whatever its unit is', '262144 kB', '0.5GB', '262144 kB'],
  ['a smaller one counts at once, also in blocks', '32768', '512MB', '32768'],
  ['an equal one is no change', '1GB', '1024MB', '1024MB'],
  ['one that nobody can compare waits', '0x10000', '512MB', '512MB'],
  ['the same, of what Patroni has', '256MB', '0x10000', '0x10000'],
  ['one that follows from the memory is not kept', undefined, '512MB', undefined],
])('%s: %s instead of %s', (_, wanted, present, expected) => {
  const of = (size: string | undefined) => (size === undefined ? {} : { shared_buffers: size });
  const { cluster, children, observed } = postgresWorld({
    spec: memory('16Gi', of(wanted)),
    before: memory('2Gi', of(present)),
  });
  const { spec } = withCommonSettings(situationOf(cluster, children, observed));
  expect([spec.resources.limits.memory, spec.parameters.shared_buffers]).toEqual(['2Gi', expected]);
});
