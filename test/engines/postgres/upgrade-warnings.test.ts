/** An index that an upgrade could not rebuild stays in its record, and is named until the upgrade is done. */
import { expect, it } from 'vitest';
import type { ServerSeen } from '../../../src/engines/postgres/observe/server.ts';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { afterDigest } from '../../../src/engines/postgres/resources/after-upgrade.ts';
import { postgresCluster, postgresWorld } from '../../support/postgres-situation.ts';
import {
  allGone,
  at,
  before,
  type Ending,
  jobOf,
  kept,
  recordAfter,
  spec,
  told,
  withJobs,
  withPause,
} from '../../support/postgres-upgrade.ts';

const warnings = 'index t_pkey of database app cannot be rebuilt and is not used: x;';
const afterJob = (ending: Ending) =>
  jobOf({ mode: 'after' }, ending, `15-17-${afterDigest(postgresCluster(spec).spec)}`);

it('is written down with the new data', () => {
  const says = `system=8008\nstate=shut down\nwarnings=${warnings}`;
  const children = withPause(jobOf({ mode: 'upgrade', index: 0 }, { says }));
  expect(recordAfter({ spec, before, ...allGone, record: at('upgrading', kept), children })).toMatchObject({
    upgrade: { stage: 'switching', warnings },
  });
});

it.each<readonly [string, Ending]>([
  ['statistics are collected', 'running'],
  ['the SQL after it has failed', { fails: 3, says: 'afterSql' }],
  ['everything is done', { says: 'state=done' }],
])('is named when %s', (_, ending) => {
  const { cluster, children, observed } = postgresWorld({
    spec: { ...spec, instances: 1 },
    numbers: [0],
    rostered: [0],
    record: at('finishing', { ...told, warnings }),
    ...withJobs(afterJob(ending)),
  });
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  expect(outcome.state === 'settled' ? '' : outcome.message).toContain(warnings);
});

it.each<readonly [string, Partial<ServerSeen>, string, string]>([
  [
    'one that enforces something is invalid',
    { indexes: { invalid: 'public.t_pkey of database app' } },
    'UpgradeRefused',
    'public.t_pkey of database app are invalid',
  ],
  [
    'nobody knows of a database',
    { indexes: { unseen: 'database app (permission denied)' } },
    'UpgradeRefused',
    'nobody has looked into database app (permission denied)',
  ],
  ['nobody can look', { state: 'full' }, 'MembersNotReady', 'all its connections are taken'],
])('no other upgrade begins while %s: it would be dropped with what it enforces', (_, server, reason, words) => {
  const { cluster, children, observed } = postgresWorld({ spec, before });
  const members = observed.members.map((one) =>
    one.state === 'answering' && one.role === 'primary' && one.server !== undefined
      ? { ...one, server: { ...one.server, ...server } as ServerSeen }
      : one,
  );
  const { steps, outcome } = planPostgres(situationOf(cluster, children, { ...observed, members }), () => undefined);
  expect(steps).toEqual([]);
  expect(outcome).toMatchObject({ reason, recheckMs: 30_000, message: expect.stringContaining(words) });
});
