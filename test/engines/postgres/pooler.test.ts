import { describe, expect, it } from 'vitest';
import { switchoverAnnotation } from '../../../src/api/maintenance.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { roles } from '../../../src/engines/postgres/names.ts';
import type { LoginSeen } from '../../../src/engines/postgres/observe/logins.ts';
import { texts } from '../../../src/engines/postgres/resources/shell/texts.ts';
import { objectNamed, postgresObjects } from '../../support/postgres-objects.ts';
import { poolerAddress } from '../../support/postgres-seen.ts';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

const table = (rows: readonly PlanRow[]): void =>
  it.each(rows)('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

const spec: PostgresSpecInput = { pooler: {} };
const seen = (...paused: readonly (boolean | undefined)[]) =>
  paused.map((isPaused, i) => ({
    pod: `db-pooler-${i}`,
    address: poolerAddress(i),
    ...(isPaused === undefined ? {} : { isPaused }),
  }));
const login = (state: LoginSeen['state']): LoginSeen => ({ role: roles.pooler, secret: 'db-pooler-login', state });
const changed = (name: string, change: (object: KubeObject) => object) => (objects: readonly KubeObject[]) =>
  objects.map((object) => (object.metadata.name === name ? ({ ...object, ...change(object) } as KubeObject) : object));
const outdated = ({ metadata }: KubeObject) => ({
  metadata: { ...metadata, labels: { ...metadata.labels, 'controller-revision-hash': 'old' } },
});
const unready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } };

describe('a switchover that somebody has asked for', () => {
  const handover = 'switch over db-0-0 -> db-1-0';
  table([
    [
      'by an annotation holds the clients back, too',
      { spec, metadata: { annotations: { [switchoverAnnotation]: 'db-1-0' } } },
      [`${handover}, db-pooler-0 db-pooler-1 paused`, 'wait SwitchingOver'],
    ],
    [
      'is done while the poolers hold their clients back',
      { spec, pods: { 0: 'outdated' } },
      [`${handover}, db-pooler-0 db-pooler-1 paused`, 'wait SwitchingOver'],
    ],
    [
      'does not wait for a pooler that does not answer',
      { spec, pods: { 0: 'outdated' }, observed: { poolers: seen(undefined, false) } },
      [`${handover}, db-pooler-1 paused`, 'wait SwitchingOver'],
    ],
    [
      'pauses nobody whose clients keep their sessions: that would wait until all have gone',
      { spec: { pooler: { mode: 'session' } }, pods: { 0: 'outdated' } },
      [handover, 'wait SwitchingOver'],
    ],
  ]);
});

describe('a restart of PostgreSQL', () => {
  table([
    [
      'of the primary is done while the poolers hold their clients back',
      { spec: { ...spec, instances: 1 }, members: { 0: { restartPending: true } } },
      ['restart db-0-0, db-pooler-0 db-pooler-1 paused', 'wait Restarting'],
    ],
    [
      'of a standby pauses nobody',
      { spec, members: { 1: { restartPending: true } } },
      ['restart db-1-0', 'wait Restarting'],
    ],
  ]);
});

describe('a pause that an operator has left behind', () => {
  table([
    ['is ended', { spec, observed: { poolers: seen(true, false) } }, ['resume db-pooler-0', 'wait Updating']],
    [
      'lasts while nobody is primary: clients wait for one',
      { spec, primary: 'nobody', observed: { poolers: seen(true, true) } },
      ['wait NoPrimary'],
    ],
  ]);
});

describe('the pooler', () => {
  table([
    ['that is well leaves nothing to do', { spec }, ['settled']],
    [
      'whose role has another password gets that of the Secret',
      { spec, observed: { logins: [login('password-wrong')] } },
      ['set password of clusterwright_pooler', 'wait Updating'],
    ],
    [
      'gets a Secret in a cluster that has run without one',
      { spec, observed: { logins: [login('secret-missing')] } },
      ['create Secret db-pooler-login', 'wait Updating'],
    ],
    [
      'whose role is not there is told, and holds up nothing',
      { spec, observed: { logins: [login('role-missing')] } },
      ['wait RoleMissing'],
    ],
    ['whose login nobody could try is left alone', { spec, observed: { logins: [login('unknown')] } }, ['settled']],
    [
      'restarts one pod at a time',
      {
        spec,
        children: (objects) => changed('db-pooler-0', (o) => (o.kind === 'Pod' ? outdated(o) : o))(objects),
      },
      ['delete Pod db-pooler-0', 'wait Updating'],
    ],
    [
      'restarts no pod while another one is not ready',
      {
        spec,
        children: (objects) => changed('db-pooler-1', () => unready)(changed('db-pooler-0', outdated)(objects)),
      },
      ['wait PoolerNotReady'],
    ],
    [
      'restarts a pod that serves nobody at once',
      {
        spec,
        children: (objects) =>
          changed(
            'db-pooler-1',
            () => unready,
          )(changed('db-pooler-0', outdated)(changed('db-pooler-1', outdated)(objects))),
      },
      ['delete Pod db-pooler-1', 'wait Updating'],
    ],
    [
      'that has too few pods is told',
      {
        spec,
        children: (objects) =>
          objects.filter(({ kind, metadata }) => kind !== 'Pod' || metadata.name !== 'db-pooler-1'),
      },
      ['wait PoolerNotReady'],
    ],
  ]);

  it('goes when the spec does not ask for it any more', () => {
    const plan = planned({ before: spec });
    expect(plan.filter((line) => line.startsWith('delete'))).toEqual([
      'delete ConfigMap db-pooler',
      'delete Service db-pooler',
      'delete PodDisruptionBudget db-pooler',
      'delete StatefulSet db-pooler',
    ]);
  });
});

describe('the configuration of PgBouncer', () => {
  const { data } = objectNamed('ConfigMap', 'db-pooler', { pooler: { parameters: { query_wait_timeout: 60 } } });

  it('is this', () => {
    expect(data['pgbouncer.ini']).toMatchInlineSnapshot(`
      "[databases]
      * = host=db-primary.apps.svc port=5432 connect_query='SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()) END'

      [pgbouncer]
      listen_addr = *
      listen_port = 6432
      unix_socket_dir = /run/pgbouncer
      auth_type = hba
      auth_hba_file = /etc/pgbouncer/hba.conf
      auth_file = /etc/pgbouncer/userlist.txt
      auth_user = clusterwright_pooler
      auth_dbname = postgres
      auth_query = SELECT name, verifier FROM clusterwright.login_verifier($1)
      admin_users = clusterwright
      client_tls_sslmode = require
      client_tls_ca_file = /etc/pgbouncer/ca.crt
      client_tls_cert_file = /etc/pgbouncer/tls.crt
      client_tls_key_file = /etc/pgbouncer/tls.key
      server_tls_sslmode = verify-full
      server_tls_ca_file = /etc/pgbouncer/ca.crt
      pool_mode = transaction
      max_client_conn = 1000
      default_pool_size = 20
      ignore_startup_parameters = extra_float_digits
      server_login_retry = 1
      server_connect_timeout = 5
      tcp_keepidle = 10
      tcp_keepintvl = 5
      tcp_keepcnt = 3
      tcp_user_timeout = 20000
      dns_max_ttl = 5
      log_connections = 0
      log_disconnections = 0
      stats_period = 3600
      log_stats = 0
      query_wait_timeout = 60
      "
    `);
  });

  it('shows a certificate of the user to clients, and believes nobody by it', () => {
    const tls: PostgresSpecInput = { pooler: { tls: { secretRef: { name: 'shop-tls' } } } };
    const usual = objectNamed('ConfigMap', 'db-pooler', spec).data['pgbouncer.ini']?.split('\n') ?? [];
    const other = objectNamed('ConfigMap', 'db-pooler', tls).data['pgbouncer.ini']?.split('\n') ?? [];
    expect(other.filter((line) => !usual.includes(line))).toEqual([
      'client_tls_cert_file = /etc/pgbouncer-tls/tls.crt',
      'client_tls_key_file = /etc/pgbouncer-tls/tls.key',
    ]);
    // Not of a projected volume: before a pod is stopped, it is looked for.
    expect(JSON.stringify(objectNamed('StatefulSet', 'db-pooler', tls).spec)).toContain(
      '{"name":"tls","secret":{"secretName":"shop-tls","defaultMode":288,"items":[{"key":"tls.crt","path":"tls.crt"},{"key":"tls.key","path":"tls.key"}]}}',
    );
    expect(JSON.stringify(objectNamed('StatefulSet', 'db-pooler', spec).spec)).not.toMatch(
      /shop-tls|SHOWN|pgbouncer-tls/,
    );
  });

  it('lets in whom PostgreSQL knows, and the operator alone to the console', () => {
    expect(data['hba.conf']).toMatchInlineSnapshot(`
      "hostssl pgbouncer clusterwright 0.0.0.0/0 cert
      hostssl pgbouncer clusterwright ::/0 cert
      hostssl pgbouncer all 0.0.0.0/0 reject
      hostssl pgbouncer all ::/0 reject
      hostssl all postgres 0.0.0.0/0 reject
      hostssl all postgres ::/0 reject
      hostssl all clusterwright 0.0.0.0/0 reject
      hostssl all clusterwright ::/0 reject
      hostssl all replicator 0.0.0.0/0 reject
      hostssl all replicator ::/0 reject
      hostssl all rewinder 0.0.0.0/0 reject
      hostssl all rewinder ::/0 reject
      hostssl all clusterwright_pooler 0.0.0.0/0 reject
      hostssl all clusterwright_pooler ::/0 reject
      hostssl all clusterwright_monitor 0.0.0.0/0 reject
      hostssl all clusterwright_monitor ::/0 reject
      hostssl all all 0.0.0.0/0 scram-sha-256
      hostssl all all ::/0 scram-sha-256
      "
    `);
  });

  it('is not in any object together with a password', () => {
    const told = JSON.stringify(postgresObjects(spec).filter(({ kind }) => kind !== 'Secret'));
    expect(told).not.toMatch(/userlist[^"]*"[^"]*\\"/);
    expect(told).not.toContain('{password}');
  });
});

describe('post-init.sh', () => {
  it('makes the roles that the objects name', () => {
    for (const role of [roles.pooler, roles.monitor])
      expect(texts['post-init.sh']).toContain(`create role ${role} login;`);
  });
});
