import { describe, expect, it } from 'vitest';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { objectNamed } from '../../support/postgres-objects.ts';

/**
 * Whatever changes in a pod template restarts every member of every cluster when the operator is upgraded. A change of these
 * snapshots is a decision that belongs into the changelog, not a chore.
 */
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

describe('a golden pod template of PostgreSQL', () => {
  it('its container', () => {
    const { volumeMounts, env, securityContext: _, ...container } = template().spec.containers[0];
    expect(container).toMatchInlineSnapshot(`
      {
        "command": [
          "/bin/sh",
          "/etc/patroni/start.sh",
        ],
        "image": "clusterwright-postgres:17",
        "imagePullPolicy": "IfNotPresent",
        "lifecycle": {
          "preStop": {
            "exec": {
              "command": [
                "python3",
                "-IS",
                "/etc/patroni/pre-stop.py",
              ],
            },
          },
        },
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
          "name": "REST_PORT",
          "value": "8008",
        },
        {
          "name": "CONFIG_DIRECTORY",
          "value": "/etc/patroni",
        },
        {
          "name": "DATA_DIRECTORY",
          "value": "/var/lib/postgresql/data",
        },
        {
          "name": "PGBIN",
          "value": "/usr/lib/postgresql/17/bin",
        },
        {
          "name": "PATH",
          "value": "/usr/lib/postgresql/17/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
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
