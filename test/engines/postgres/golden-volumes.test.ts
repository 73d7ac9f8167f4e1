import { expect, it } from 'vitest';
import { objectNamed } from '../../support/postgres-objects.ts';

interface Template {
  readonly spec: { readonly volumes: unknown };
}

/** See `golden.test.ts`. */
it('a golden pod template of PostgreSQL: its volumes', () => {
  const { template } = objectNamed('StatefulSet', 'db-1').spec as { readonly template: Template };
  expect(template.spec.volumes).toMatchInlineSnapshot(`
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
                  {
                    "key": "pre-stop.py",
                    "path": "pre-stop.py",
                  },
                  {
                    "key": "start.sh",
                    "path": "start.sh",
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
            {
              "configMap": {
                "items": [
                  {
                    "key": "db-1.start",
                    "path": "start",
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
