import { describe, expect, it } from 'vitest';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { postgresResources } from '../../../src/engines/postgres/resources/resources.ts';
import { postgresCluster } from '../../support/postgres-situation.ts';

/**
 * Whatever changes in a pod template restarts every member of every cluster when the operator is upgraded. A change of these
 * snapshots is a decision that belongs into the changelog, not a chore.
 */
const objects = (spec: PostgresSpecInput = {}) => postgresResources(postgresCluster(spec)).map(({ object }) => object);

function objectNamed(kind: string, name: string, spec: PostgresSpecInput = {}) {
  const found = objects(spec).find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found as typeof found & { readonly data: Readonly<Record<string, string>>; readonly rules: unknown };
}

interface Template {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly [Readonly<Record<string, unknown>>];
    readonly volumes: unknown;
    readonly [field: string]: unknown;
  };
}
const template = (spec: PostgresSpecInput = {}, member = 1): Template =>
  (objectNamed('StatefulSet', `db-${member}`, spec).spec as { readonly template: Template }).template;
const parsed = (text: string | undefined) => JSON.parse(text ?? '') as Readonly<Record<string, unknown>>;

describe('a golden pod template of PostgreSQL', () => {
  it('its container', () => {
    const { volumeMounts, env, securityContext: _, ...container } = template().spec.containers[0];
    expect(container).toMatchInlineSnapshot(`
      {
        "command": [
          "patroni",
          "/etc/patroni",
        ],
        "image": "clusterwright-postgres:17",
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": {
          "failureThreshold": 3,
          "httpGet": {
            "path": "/liveness",
            "port": "patroni",
            "scheme": "HTTPS",
          },
          "periodSeconds": 4,
          "terminationGracePeriodSeconds": 5,
          "timeoutSeconds": 3,
        },
        "name": "postgres",
        "ports": [
          {
            "containerPort": 5432,
            "name": "postgres",
            "protocol": "TCP",
          },
          {
            "containerPort": 8008,
            "name": "patroni",
            "protocol": "TCP",
          },
        ],
        "readinessProbe": {
          "failureThreshold": 3,
          "httpGet": {
            "path": "/readiness",
            "port": "patroni",
            "scheme": "HTTPS",
          },
          "periodSeconds": 2,
          "timeoutSeconds": 3,
        },
        "resources": {
          "limits": {
            "memory": "512Mi",
          },
          "requests": {
            "cpu": "100m",
          },
        },
        "startupProbe": {
          "failureThreshold": 86400,
          "httpGet": {
            "path": "/liveness",
            "port": "patroni",
            "scheme": "HTTPS",
          },
          "periodSeconds": 1,
          "timeoutSeconds": 3,
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
      }
    `);
    expect(env).toMatchInlineSnapshot(`
      [
        {
          "name": "POD_NAME",
          "valueFrom": {
            "fieldRef": {
              "fieldPath": "metadata.name",
            },
          },
        },
        {
          "name": "POD_IP",
          "valueFrom": {
            "fieldRef": {
              "fieldPath": "status.podIP",
            },
          },
        },
        {
          "name": "PATRONI_NAME",
          "value": "$(POD_NAME)",
        },
        {
          "name": "PATRONI_KUBERNETES_POD_IP",
          "value": "$(POD_IP)",
        },
        {
          "name": "PATRONI_POSTGRESQL_CONNECT_ADDRESS",
          "value": "$(POD_IP):5432",
        },
        {
          "name": "PATRONI_RESTAPI_CONNECT_ADDRESS",
          "value": "$(POD_IP):8008",
        },
        {
          "name": "ROLE_LABEL",
          "value": "clusterwright.dev/role",
        },
        {
          "name": "MEMBER_SELECTOR",
          "value": "app.kubernetes.io/name=postgres,app.kubernetes.io/instance=db,app.kubernetes.io/component=member,app.kubernetes.io/managed-by=clusterwright",
        },
        {
          "name": "OPERATOR_ROLE",
          "value": "clusterwright",
        },
        {
          "name": "PGBIN",
          "value": "/usr/lib/postgresql/17/bin",
        },
        {
          "name": "PYTHONUNBUFFERED",
          "value": "1",
        },
        {
          "name": "LC_ALL",
          "value": "C.UTF-8",
        },
      ]
    `);
    expect((volumeMounts as readonly { mountPath: string }[]).map(({ mountPath }) => mountPath)).toMatchInlineSnapshot(`
      [
        "/var/lib/postgresql",
        "/etc/patroni",
        "/etc/passwd",
        "/etc/postgresql/tls",
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "/tmp",
        "/var/run/postgresql",
        "/dev/shm",
      ]
    `);
  });

  it('its volumes', () => {
    expect(template().spec.volumes).toMatchInlineSnapshot(`
      [
        {
          "name": "patroni",
          "projected": {
            "defaultMode": 365,
            "sources": [
              {
                "configMap": {
                  "items": [
                    {
                      "key": "patroni.yml",
                      "path": "patroni.yml",
                    },
                    {
                      "key": "relabel.py",
                      "path": "relabel.py",
                    },
                    {
                      "key": "post-init.sh",
                      "path": "post-init.sh",
                    },
                  ],
                  "name": "db-patroni",
                },
              },
              {
                "configMap": {
                  "items": [
                    {
                      "key": "db-1.bootstrap.yml",
                      "path": "bootstrap.yml",
                    },
                  ],
                  "name": "db-members",
                  "optional": true,
                },
              },
            ],
          },
        },
        {
          "configMap": {
            "items": [
              {
                "key": "passwd",
                "path": "passwd",
              },
            ],
            "name": "db-patroni",
          },
          "name": "users",
        },
        {
          "name": "tls",
          "projected": {
            "defaultMode": 288,
            "sources": [
              {
                "secret": {
                  "items": [
                    {
                      "key": "tls.crt",
                      "path": "server.crt",
                    },
                    {
                      "key": "tls.key",
                      "path": "server.key",
                    },
                    {
                      "key": "ca.crt",
                      "path": "ca.crt",
                    },
                  ],
                  "name": "db-server-tls",
                },
              },
              {
                "secret": {
                  "items": [
                    {
                      "key": "tls.crt",
                      "path": "replication.crt",
                    },
                    {
                      "key": "tls.key",
                      "path": "replication.key",
                    },
                  ],
                  "name": "db-replication-tls",
                },
              },
              {
                "secret": {
                  "items": [
                    {
                      "key": "tls.crt",
                      "path": "rewind.crt",
                    },
                    {
                      "key": "tls.key",
                      "path": "rewind.key",
                    },
                  ],
                  "name": "db-rewind-tls",
                },
              },
              {
                "secret": {
                  "items": [
                    {
                      "key": "tls.crt",
                      "path": "patroni.crt",
                    },
                    {
                      "key": "tls.key",
                      "path": "patroni.key",
                    },
                    {
                      "key": "ca.crt",
                      "path": "patroni-ca.crt",
                    },
                  ],
                  "name": "db-patroni-tls",
                },
              },
            ],
          },
        },
        {
          "name": "token",
          "projected": {
            "defaultMode": 288,
            "sources": [
              {
                "serviceAccountToken": {
                  "expirationSeconds": 3600,
                  "path": "token",
                },
              },
              {
                "configMap": {
                  "items": [
                    {
                      "key": "ca.crt",
                      "path": "ca.crt",
                    },
                  ],
                  "name": "kube-root-ca.crt",
                },
              },
              {
                "downwardAPI": {
                  "items": [
                    {
                      "fieldRef": {
                        "fieldPath": "metadata.namespace",
                      },
                      "path": "namespace",
                    },
                  ],
                },
              },
            ],
          },
        },
        {
          "emptyDir": {
            "medium": "Memory",
            "sizeLimit": "16Mi",
          },
          "name": "tmp",
        },
        {
          "emptyDir": {
            "medium": "Memory",
            "sizeLimit": "1Mi",
          },
          "name": "socket",
        },
        {
          "emptyDir": {
            "medium": "Memory",
            "sizeLimit": "256Mi",
          },
          "name": "shm",
        },
      ]
    `);
  });

  it('the rest of it', () => {
    const { containers: _, volumes: __, ...rest } = template().spec;
    expect(rest).toMatchInlineSnapshot(`
      {
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": {
          "fsGroup": 10001,
          "fsGroupChangePolicy": "OnRootMismatch",
          "runAsGroup": 10001,
          "runAsNonRoot": true,
          "runAsUser": 10001,
          "seccompProfile": {
            "type": "RuntimeDefault",
          },
        },
        "serviceAccountName": "db-postgres",
        "terminationGracePeriodSeconds": 120,
        "topologySpreadConstraints": [
          {
            "labelSelector": {
              "matchLabels": {
                "app.kubernetes.io/component": "member",
                "app.kubernetes.io/instance": "db",
                "app.kubernetes.io/managed-by": "clusterwright",
                "app.kubernetes.io/name": "postgres",
              },
            },
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
          },
        ],
      }
    `);
  });

  it('differs between members by their own names alone', () => {
    const text = (member: number): string => JSON.stringify(template({}, member)).replaceAll(`db-${member}`, 'db-N');
    expect(text(2)).toBe(text(1));
  });

  it.each<[string, PostgresSpecInput]>([
    ['how many members there are', { instances: 5 }],
    ['the settings', { parameters: { work_mem: '8MB' } }],
    ['the synchronous standbys', { synchronous: { count: 2 } }],
    ['the time of a failover', { failover: { ttl: '1m' } }],
    ['the size of the volumes', { storage: { size: '100Gi' } }],
  ])('does not depend on %s: nobody restarts for it', (_, spec) => {
    expect(template(spec)).toEqual(template());
  });

  it('depends on what Patroni reads when it starts', () => {
    const digest = (spec: PostgresSpecInput) => template(spec).metadata.annotations['clusterwright.dev/config'];
    expect(digest({ version: '16' })).not.toBe(digest({}));
  });
});

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
    expect(JSON.stringify(objects())).not.toMatch(/"(create|update|delete|deletecollection|\*)"/);
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

  it('shares this, which a new cluster begins with', () => {
    expect(parsed(objectNamed('ConfigMap', 'db-members').data['db-0.bootstrap.yml'])).toMatchInlineSnapshot(`
      {
        "bootstrap": {
          "dcs": {
            "check_timeline": true,
            "failsafe_mode": true,
            "loop_wait": 5,
            "maximum_lag_on_failover": 33554432,
            "member_slots_ttl": "30min",
            "postgresql": {
              "parameters": {
                "effective_cache_size": "307MB",
                "hot_standby": "on",
                "huge_pages": "off",
                "jit": "off",
                "log_timezone": "UTC",
                "max_connections": "100",
                "max_replication_slots": "20",
                "max_slot_wal_keep_size": "204MB",
                "max_wal_senders": "20",
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
