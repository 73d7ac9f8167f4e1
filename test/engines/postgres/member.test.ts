/** What the operator makes of the answers of Patroni, be they whole, odd or hostile. */
import { describe, expect, it } from 'vitest';
import { liveMember } from '../../../src/engines/postgres/observe/member.ts';
import type { LiveMember } from '../../../src/engines/postgres/observe/observed.ts';

const member = (answer: object): LiveMember => liveMember('db-1-0', '10.0.0.1', { ...answer });

/** As Patroni 4.0.7 says it of a primary with one standby. */
const primary = {
  state: 'running',
  postmaster_start_time: '2030-06-01 12:00:00.000000+00:00',
  role: 'primary',
  server_version: 170012,
  xlog: { location: 67_109_192 },
  timeline: 3,
  replication: [
    {
      usename: 'replicator',
      application_name: 'db-1-0',
      client_addr: '10.0.0.1',
      state: 'streaming',
      sync_state: 'quorum',
      sync_priority: 1,
    },
    {
      usename: 'replicator',
      application_name: 'db-2-0',
      client_addr: '10.0.0.2',
      state: 'catchup',
      sync_state: 'async',
      sync_priority: 0,
    },
    {
      usename: 'replicator',
      application_name: 'clusterwright',
      client_addr: '10.0.0.9',
      state: 'backup',
      sync_state: 'async',
      sync_priority: 0,
    },
  ],
  dcs_last_seen: 1_900_000_000,
  database_system_identifier: '7449226017311686692',
  patroni: { version: '4.0.7', scope: 'db', name: 'db-0-0' },
};

const silentFields = {
  state: 'answering',
  pod: 'db-1-0',
  address: '10.0.0.1',
  postgres: 'unknown',
  isStreaming: false,
  isSynchronous: false,
  restartPending: false,
  awaitsPrimary: false,
  standbys: [],
  isUnlocked: false,
  failsafe: false,
  isPaused: false,
} as const;

describe('a member', () => {
  it('that is primary', () => {
    expect(member(primary)).toEqual({
      ...silentFields,
      postgres: 'running',
      role: 'primary',
      version: '17.12',
      systemId: '7449226017311686692',
      timeline: 3,
      lsn: 67_109_192,
      standbys: ['db-1-0'],
    });
  });

  it.each<[string, object, Partial<LiveMember>]>([
    ['that streams', { role: 'replica', replication_state: 'streaming' }, { role: 'replica', isStreaming: true }],
    ['that copies from an archive', { role: 'replica', replication_state: 'in archive recovery' }, { role: 'replica' }],
    ['that commits may wait for, by a quorum', { quorum_standby: true }, { isSynchronous: true }],
    ['that commits may wait for, by its name', { sync_standby: true }, { isSynchronous: true }],
    [
      'that has received more than it has replayed',
      { xlog: { received_location: 9, replayed_location: 8 } },
      { lsn: 9 },
    ],
    [
      'whose receiver has begun again at the start of a segment',
      { xlog: { received_location: 8, replayed_location: 9 } },
      { lsn: 9 },
    ],
    ['that has received nothing since it started', { xlog: { replayed_location: 8 } }, { lsn: 8 }],
    ['that knows no leader', { cluster_unlocked: true }, { isUnlocked: true }],
    ['that cannot reach the API server', { failsafe_mode_is_active: true }, { failsafe: true }],
    ['that is paused', { pause: true }, { isPaused: true }],
    ['with a setting for the next start', { pending_restart: true }, { restartPending: true }],
    [
      'with a lowered setting that the primary has to lower first',
      { pending_restart: true, pending_restart_reason: { max_connections: { old_value: '200', new_value: '100' } } },
      { restartPending: true, awaitsPrimary: true, lowered: { max_connections: 200 } },
    ],
    [
      'with a raised setting',
      { pending_restart: true, pending_restart_reason: { max_connections: { old_value: '90', new_value: '100' } } },
      { restartPending: true, raised: { max_connections: 90 } },
    ],
    [
      'with a lowered setting that every member may have for itself',
      { pending_restart: true, pending_restart_reason: { shared_buffers: { old_value: '200', new_value: '100' } } },
      { restartPending: true },
    ],
    ['of PostgreSQL 15.0', { server_version: 150000 }, { version: '15.0' }],
  ])('%s', (_, answer, seen) => expect(member(answer)).toEqual({ ...silentFields, ...seen }));
});

describe('a 503: PostgreSQL does not run', () => {
  it.each([
    'starting',
    'stopped',
    'crashed',
    'creating replica',
    'initializing new cluster',
    'running custom bootstrap script',
  ])('%s', (state) => {
    // The role is the one that it had: Patroni says it in `role` all the same.
    const answer = { state, role: 'replica', database_system_identifier: '7001', patroni: { name: 'db-1-0' } };
    expect(member(answer)).toEqual({ ...silentFields, postgres: state, role: 'replica', systemId: '7001' });
  });

  it('on a blank volume there is no database', () => {
    expect(
      member({ state: 'creating replica', role: 'replica', database_system_identifier: '' }).systemId,
    ).toBeUndefined();
  });

  it('in words, which are no member', () => {
    expect(member({ text: 'Service Unavailable' })).toEqual(silentFields);
  });
});

describe('an answer that says nothing of use', () => {
  it.each<[string, object]>([
    ['nothing', {}],
    ['null everywhere', Object.fromEntries(Object.keys(primary).map((name) => [name, null]))],
    ['lists everywhere', Object.fromEntries(Object.keys(primary).map((name) => [name, []]))],
    ['text everywhere', Object.fromEntries(Object.keys(primary).map((name) => [name, 'x\n"; DROP TABLE x; --']))],
    ['true in words', { quorum_standby: 'true', pending_restart: 1, pause: 'yes', cluster_unlocked: {} }],
    ['a role that there is not', { role: 'standby_leader' }],
    ['a state with a line break', { state: 'running\nReady: True' }],
    ['a state that does not end', { state: 'r'.repeat(64) }],
    [
      'a number that is none',
      { timeline: Number.NaN, server_version: Number.POSITIVE_INFINITY, xlog: { location: -1 } },
    ],
    ['a number beyond a double', { timeline: 2 ** 53, xlog: { location: 1e300 } }],
    ['a number in text', { timeline: '3', server_version: '170012', xlog: { location: '8' } }],
    ['a system identifier as a number', { database_system_identifier: 7001 }],
    ['a system identifier that is none', { database_system_identifier: '7001; x' }],
    ['a system identifier that does not end', { database_system_identifier: '7'.repeat(21) }],
    [
      'standbys that are none',
      {
        replication: [null, 1, 'x', {}, { state: 'streaming' }, { state: 'streaming', application_name: '\u001b[2J' }],
      },
    ],
    ['reasons that are none', { pending_restart_reason: { max_connections: 'lower', max_wal_senders: null } }],
    ['reasons without numbers', { pending_restart_reason: { max_connections: { old_value: 'b', new_value: 'a' } } }],
  ])('%s', (_, answer) => expect(member(answer)).toEqual(silentFields));

  it('names no more standbys than there can be', () => {
    const replication = Array.from({ length: 1000 }, (_, i) => ({ state: 'streaming', application_name: `db-${i}-0` }));
    expect(member({ replication }).standbys).toHaveLength(32);
  });

  it('reaches no prototype', () => {
    const answer = JSON.parse('{"__proto__": {"role": "primary"}, "xlog": {"__proto__": {"location": 8}}}') as object;
    expect(member(answer).role).toBeUndefined();
  });
});
