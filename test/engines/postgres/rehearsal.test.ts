/** What the Job of a rehearsal is told: the script itself runs in real-upgrade. */
import { expect, it } from 'vitest';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { upgradeJob } from '../../../src/engines/postgres/resources/upgrade-job.ts';
import type { PodSpec } from '../../../src/resources/plain.ts';
import { postgresCluster } from '../../support/postgres-situation.ts';

function parametersIn(spec: PostgresSpecInput): string | undefined {
  const job = upgradeJob(postgresCluster(spec), 'both', { from: '15', to: '17' }, { mode: 'rehearse' }, '');
  const { containers } = (job.spec as { readonly template: { readonly spec: PodSpec } }).template.spec;
  return containers[0]?.env?.find(({ name }) => name === 'PARAMETERS')?.value;
}

it('both versions are asked for the settings of PostgreSQL itself, not for those of extensions', () => {
  const parameters = { geqo: 'off', 'pg_stat_statements.track': 'all', work_mem: '8MB' };
  expect(parametersIn({ parameters })).toBe('geqo work_mem');
});

it('and for nothing where the spec has none', () => expect(parametersIn({})).toBeUndefined());
