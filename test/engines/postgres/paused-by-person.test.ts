/** Somebody has paused Patroni (`patronictl pause`): what does not happen for that reason is said. */
import { expect, it } from 'vitest';
import { situationOf } from '../../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../../src/engines/postgres/plan/plan.ts';
import { afterDigest } from '../../../src/engines/postgres/resources/after-upgrade.ts';
import { pausedByHand } from '../../support/paused-by-hand.ts';
import { postgresCluster, postgresWorld, type Story } from '../../support/postgres-situation.ts';
import { at, jobOf, spec, told } from '../../support/postgres-upgrade.ts';
import { planned } from '../../support/postgres-words.ts';

/** Its own pause is over, and nobody can say when it is done: a target of backups may be full, or SQL of the user wrong. */
const finishing = { spec, record: at('finishing', told) } as const;

it.each<[string, Story, string, string]>([
  ['a cluster that is whole', {}, 'FailoverPaused', ''],
  ['one whose primary is gone', { primary: 'nobody', members: { 0: 'silent' } }, 'FailoverPaused', 'nobody is primary'],
  [
    'one whose standby has been stopped',
    { members: { 2: { postgres: 'stopped', isStreaming: false, isPaused: true } } },
    'MembersNotReady',
    'PostgreSQL of db-2-0 is stopped',
  ],
  [
    'one whose primary is gone while a major upgrade is being finished',
    { ...finishing, primary: 'nobody', members: { 0: 'silent' } },
    'FailoverPaused',
    'nobody is primary',
  ],
  [
    'one whose new version is to start',
    {
      ...{ spec, record: at('starting', told), numbers: [0], primary: 'nobody' },
      members: { 0: { postgres: 'stopped', isPaused: true } },
    },
    'Upgrading',
    'PostgreSQL of db-0-0 is stopped',
  ],
])('%s says so', (_, story, reason, besides) => {
  const { cluster, children, observed } = postgresWorld({ ...story, children: pausedByHand });
  const { outcome } = planPostgres(situationOf(cluster, children, observed), () => undefined);
  expect(outcome).toMatchObject({ state: 'wait', reason });
  const words = outcome.state === 'settled' ? '' : outcome.message;
  expect(words).toContain('Patroni is paused (pause: true in its configuration)');
  expect(words).toContain(besides);
  expect(words).not.toContain('elect');
});

it.each<[string, Story]>([
  ['no standby restarts with a new template', { pods: { 2: 'outdated' } }],
  ['no primary hands over for it', { pods: { 0: 'outdated' } }],
  ['the only member does not restart', { spec: { instances: 1 }, pods: { 0: 'outdated' } }],
])('%s: Patroni would not start PostgreSQL again', (_, story) => {
  expect(planned({ ...story, children: pausedByHand })).toEqual(['wait FailoverPaused']);
});

it('no standby restarts either while a major upgrade is being finished', () => {
  const failed = jobOf(
    { mode: 'after' },
    { fails: 3, says: 'afterSql' },
    `15-17-${afterDigest(postgresCluster(spec).spec)}`,
  );
  const children: Story['children'] = (objects) => pausedByHand([...objects, ...failed]);
  expect(planned({ ...finishing, pods: { 2: 'outdated' }, children })).toEqual(['wait FailoverPaused']);
});
