import { describe, expect, it } from 'vitest';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { objectNamed, postgresObjects } from '../../support/postgres-objects.ts';

const parsed = (text: string | undefined) => JSON.parse(text ?? '') as Readonly<Record<string, unknown>>;

describe('the rights of the pods', () => {
  it('are these, and no more', () => {
    expect(objectNamed('Role', 'db-postgres').rules).toMatchInlineSnapshot(`
      [
        {
          "apiGroups": [
            "",
          ],
          "resourceNames": [
            "db-leader",
          ],
          "resources": [
            "configmaps",
          ],
          "verbs": [
            "get",
          ],
        },
        {
          "apiGroups": [
            "",
          ],
          "resourceNames": [
            "db-config",
            "db-leader",
            "db-failover",
            "db-sync",
          ],
          "resources": [
            "configmaps",
          ],
          "verbs": [
            "patch",
          ],
        },
        {
          "apiGroups": [
            "",
          ],
          "resourceNames": [
            "db-0-0",
            "db-1-0",
            "db-2-0",
          ],
          "resources": [
            "pods",
          ],
          "verbs": [
            "patch",
          ],
        },
        {
          "apiGroups": [
            "",
          ],
          "resources": [
            "configmaps",
            "pods",
          ],
          "verbs": [
            "list",
            "watch",
          ],
        },
      ]
    `);
  });

  it('never let a pod make anything: it could make the lock', () => {
    expect(JSON.stringify(postgresObjects())).not.toMatch(/"(create|update|delete|deletecollection|\*)"/);
  });
});

describe('Patroni', () => {
  it('reads this', () => {
    expect(parsed(objectNamed('ConfigMap', 'db-patroni').data['patroni.yml'])).toMatchInlineSnapshot(`
      {
        "ctl": {
          "cacert": "/etc/postgresql/tls/patroni-ca.crt",
          "certfile": "/etc/postgresql/tls/patroni.crt",
          "insecure": true,
          "keyfile": "/etc/postgresql/tls/patroni.key",
        },
        "kubernetes": {
          "bypass_api_service": false,
          "follower_label_value": "replica",
          "labels": {
            "app.kubernetes.io/component": "member",
            "app.kubernetes.io/managed-by": "clusterwright",
            "app.kubernetes.io/name": "postgres",
          },
          "leader_label_value": "primary",
          "namespace": "apps",
          "retriable_http_codes": [
            401,
            429,
          ],
          "role_label": "clusterwright.dev/role",
          "scope_label": "app.kubernetes.io/instance",
          "standby_leader_label_value": "primary",
          "use_endpoints": false,
        },
        "log": {
          "level": "INFO",
        },
        "postgresql": {
          "authentication": {
            "replication": {
              "sslcert": "/etc/postgresql/tls/replication.crt",
              "sslkey": "/etc/postgresql/tls/replication.key",
              "sslmode": "verify-ca",
              "sslrootcert": "/etc/postgresql/tls/ca.crt",
              "username": "replicator",
            },
            "rewind": {
              "sslcert": "/etc/postgresql/tls/rewind.crt",
              "sslkey": "/etc/postgresql/tls/rewind.key",
              "sslmode": "verify-ca",
              "sslrootcert": "/etc/postgresql/tls/ca.crt",
              "username": "rewinder",
            },
            "superuser": {
              "username": "postgres",
            },
          },
          "basebackup": [
            {
              "checkpoint": "fast",
            },
          ],
          "bin_dir": "/usr/lib/postgresql/17/bin",
          "callbacks": {
            "on_role_change": "python3 -IS /etc/patroni/relabel.py",
            "on_start": "python3 -IS /etc/patroni/relabel.py",
          },
          "data_dir": "/var/lib/postgresql/data",
          "listen": "0.0.0.0:5432",
          "parameters": {
            "logging_collector": "off",
            "password_encryption": "scram-sha-256",
            "ssl": "on",
            "ssl_ca_file": "/etc/postgresql/tls/ca.crt",
            "ssl_cert_file": "/etc/postgresql/tls/server.crt",
            "ssl_key_file": "/etc/postgresql/tls/server.key",
            "unix_socket_directories": "/var/run/postgresql",
          },
          "pg_hba": [
            "local all postgres peer map=container",
            "local replication replicator peer map=container",
            "local all all scram-sha-256",
            "hostssl replication replicator all cert",
            "hostssl postgres rewinder all cert",
            "hostssl all clusterwright all cert",
            "hostssl all postgres,replicator,rewinder,clusterwright all reject",
            "hostssl all all all scram-sha-256",
          ],
          "pg_ident": [
            "container postgres postgres",
            "container postgres replicator",
          ],
          "pgpass": "/tmp/pgpass",
          "remove_data_directory_on_diverged_timelines": false,
          "remove_data_directory_on_rewind_failure": false,
          "use_unix_socket": true,
          "use_unix_socket_repl": true,
        },
        "restapi": {
          "cafile": "/etc/postgresql/tls/patroni-ca.crt",
          "certfile": "/etc/postgresql/tls/patroni.crt",
          "keyfile": "/etc/postgresql/tls/patroni.key",
          "listen": "0.0.0.0:8008",
          "verify_client": "optional",
        },
        "scope": "db",
      }
    `);
  });

  it.each<[PostgresSpecInput, readonly unknown[]]>([
    [{ instances: 3, synchronous: { strict: true } }, [{ checkpoint: 'fast' }, 'no-slot']],
    [{ instances: 3, synchronous: { strict: false } }, [{ checkpoint: 'fast' }]],
    [{ instances: 1, synchronous: { strict: true } }, [{ checkpoint: 'fast' }]],
  ])(
    'with %j, a copy confirms no log to a primary that waits for any standby, and nobody restarts for that',
    (spec, options) => {
      const { postgresql } = parsed(objectNamed('ConfigMap', 'db-patroni', spec).data['patroni.yml']);
      expect((postgresql as { readonly basebackup: unknown }).basebackup).toEqual(options);
      const template = (of: PostgresSpecInput) =>
        (objectNamed('StatefulSet', 'db-0', of).spec as { template: unknown }).template;
      expect(template(spec)).toEqual(template({ instances: 3 }));
    },
  );

  it('shares this, which a new cluster begins with', () => {
    expect(parsed(objectNamed('ConfigMap', 'db-members').data['db-0.bootstrap.yml'])).toMatchInlineSnapshot(`
      {
        "bootstrap": {
          "dcs": {
            "check_timeline": true,
            "failsafe_mode": true,
            "loop_wait": 5,
            "max_timelines_history": 200,
            "maximum_lag_on_failover": 33554432,
            "member_slots_ttl": "30min",
            "postgresql": {
              "parameters": {
                "clusterwright.config": "a0bbd191d680fdab",
                "effective_cache_size": "307MB",
                "hot_standby": "on",
                "huge_pages": "off",
                "jit": "off",
                "log_timezone": "UTC",
                "max_connections": "100",
                "max_replication_slots": "20",
                "max_slot_wal_keep_size": "204MB",
                "max_wal_senders": "20",
                "max_wal_size": "102MB",
                "shared_buffers": "128MB",
                "tcp_keepalives_count": "3",
                "tcp_keepalives_idle": "10",
                "tcp_keepalives_interval": "5",
                "tcp_user_timeout": "20s",
                "timezone": "UTC",
                "track_commit_timestamp": "off",
                "wal_keep_size": "64MB",
                "wal_level": "replica",
                "wal_log_hints": "on",
                "wal_receiver_status_interval": "2s",
                "wal_receiver_timeout": "10s",
                "wal_sender_timeout": "10s",
              },
              "use_pg_rewind": true,
              "use_slots": true,
            },
            "primary_start_timeout": 0,
            "retry_timeout": 5,
            "synchronous_mode": "quorum",
            "synchronous_mode_strict": false,
            "synchronous_node_count": 1,
            "ttl": 20,
          },
          "initdb": [
            {
              "encoding": "UTF8",
            },
            {
              "locale": "C.UTF-8",
            },
            "data-checksums",
            {
              "auth-local": "peer",
            },
            {
              "auth-host": "reject",
            },
          ],
          "post_init": "/etc/patroni/post-init.sh",
        },
      }
    `);
  });

  it('finds a bootstrap for the first member alone', () => {
    expect(Object.keys(objectNamed('ConfigMap', 'db-members').data)).toEqual([
      'db-0.start',
      'db-0.bootstrap.yml',
      'db-1.start',
      'db-2.start',
      'version',
    ]);
  });

  it('has ConfigMaps without an owner and without a word in them', () => {
    for (const name of ['db-config', 'db-leader', 'db-failover', 'db-sync']) {
      const { metadata, ...rest } = objectNamed('ConfigMap', name);
      expect(rest).toEqual({ apiVersion: 'v1', kind: 'ConfigMap' });
      expect([metadata.ownerReferences, metadata.annotations]).toEqual([undefined, undefined]);
    }
  });

  it('lets the superuser in by the local socket alone, and our other roles by certificate alone', () => {
    const { postgresql } = parsed(objectNamed('ConfigMap', 'db-patroni').data['patroni.yml']) as {
      readonly postgresql: { readonly pg_hba: readonly string[] };
    };
    const lines = postgresql.pg_hba.map((line) => line.split(' '));
    expect(lines.filter(([type]) => type === 'host' || type === 'hostnossl')).toEqual([]);
    // The first line that fits decides.
    expect(
      lines.find(([type, , user]) => type === 'hostssl' && (user ?? '').split(',').includes('postgres'))?.at(-1),
    ).toBe('reject');
    expect(lines.at(-1)).toEqual(['hostssl', 'all', 'all', 'all', 'scram-sha-256']);
  });
});

describe('the settings', () => {
  const settings = (spec: PostgresSpecInput) => {
    const shared = parsed(objectNamed('ConfigMap', 'db-members', spec).data['db-0.bootstrap.yml']) as {
      readonly bootstrap: {
        readonly dcs: { readonly postgresql: { readonly parameters: Readonly<Record<string, string>> } };
      };
    };
    return shared.bootstrap.dcs.postgresql.parameters;
  };
  it.each<[string, PostgresSpecInput, object]>([
    [
      'follow the memory',
      { resources: { limits: { memory: '4Gi' } } },
      { shared_buffers: '1024MB', effective_cache_size: '2457MB' },
    ],
    ['follow the volume', { storage: { size: '100Gi' } }, { max_slot_wal_keep_size: '20480MB' }],
    [
      'are the user’s',
      { parameters: { max_connections: '300', work_mem: '8MB' } },
      { max_connections: '300', work_mem: '8MB' },
    ],
  ])('%s', (_, spec, some) => expect(settings(spec)).toMatchObject(some));
});

describe('Services', () => {
  it('find the primary by its label, also while it is not ready, and standbys that are', () => {
    const spec = (name: string) => objectNamed('Service', name).spec;
    expect({ primary: spec('db-primary'), replicas: spec('db-replicas'), members: spec('db') }).toMatchInlineSnapshot(`
      {
        "members": {
          "clusterIP": "None",
          "ports": [
            {
              "name": "postgres",
              "port": 5432,
              "protocol": "TCP",
              "targetPort": "postgres",
            },
          ],
          "publishNotReadyAddresses": true,
          "selector": {
            "app.kubernetes.io/component": "member",
            "app.kubernetes.io/instance": "db",
            "app.kubernetes.io/managed-by": "clusterwright",
            "app.kubernetes.io/name": "postgres",
          },
        },
        "primary": {
          "ports": [
            {
              "name": "postgres",
              "port": 5432,
              "protocol": "TCP",
              "targetPort": "postgres",
            },
          ],
          "publishNotReadyAddresses": true,
          "selector": {
            "app.kubernetes.io/component": "member",
            "app.kubernetes.io/instance": "db",
            "app.kubernetes.io/managed-by": "clusterwright",
            "app.kubernetes.io/name": "postgres",
            "clusterwright.dev/role": "primary",
          },
          "type": "ClusterIP",
        },
        "replicas": {
          "ports": [
            {
              "name": "postgres",
              "port": 5432,
              "protocol": "TCP",
              "targetPort": "postgres",
            },
          ],
          "selector": {
            "app.kubernetes.io/component": "member",
            "app.kubernetes.io/instance": "db",
            "app.kubernetes.io/managed-by": "clusterwright",
            "app.kubernetes.io/name": "postgres",
            "clusterwright.dev/role": "replica",
          },
          "type": "ClusterIP",
        },
      }
    `);
  });
});

describe('the ConfigMaps that pods mount', () => {
  interface Source {
    readonly configMap?: {
      readonly name: string;
      readonly items?: readonly { readonly key: string }[];
      readonly optional?: true;
    };
    readonly projected?: { readonly sources: readonly Source[] };
  }
  const everything: PostgresSpecInput = { pooler: {}, monitoring: { queries: [] } };

  function missing(): string[] {
    const objects = postgresObjects(everything);
    const held = new Map(
      objects.map(({ kind, metadata, data }) => [`${kind}/${metadata.name}`, (data ?? {}) as object]),
    );
    const sourcesOf = (source: Source): readonly Source[] => [source, ...(source.projected?.sources ?? [])];
    const sources = objects
      .filter(({ kind }) => kind === 'StatefulSet')
      .flatMap(({ spec }) => (spec as { template: { spec: { volumes: readonly Source[] } } }).template.spec.volumes)
      .flatMap(sourcesOf)
      .flatMap(({ configMap }) => configMap ?? [])
      .filter(({ name, optional }) => optional !== true && name !== 'kube-root-ca.crt');
    expect(sources.length).toBeGreaterThan(5);
    return sources.flatMap(({ name, items = [] }) =>
      items.flatMap(({ key }) => (key in (held.get(`ConfigMap/${name}`) ?? {}) ? [] : [`${name}: ${key}`])),
    );
  }

  it('have every key that a pod waits for', () => {
    expect(missing()).toEqual([]);
  });
});
