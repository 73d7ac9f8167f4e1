import { describe, expect, it } from 'vitest';
import type { PostgresSpecInput } from '../../../src/engines/postgres/kind/schema.ts';
import { objectNamed } from '../../support/postgres-objects.ts';
import { fromSecret, ofOperator } from '../../support/shown-certificates.ts';

interface Template {
  readonly spec: {
    readonly containers: readonly [{ readonly env: readonly { readonly name: string }[] }];
    readonly volumes: readonly { readonly name: string }[];
  };
}

const template = (spec: PostgresSpecInput = {}): Template =>
  (objectNamed('StatefulSet', 'db-1', spec).spec as { readonly template: Template }).template;

/** See `golden.test.ts`. */
describe('a golden pod template of PostgreSQL with a certificate of a user', () => {
  it('its volumes, where they are others', () => {
    const usual = template().spec.volumes.map((volume) => JSON.stringify(volume));
    const others = template(fromSecret).spec.volumes.filter((volume) => !usual.includes(JSON.stringify(volume)));
    expect(others).toMatchInlineSnapshot(`
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
                      "key": "patroni-source.yml",
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
          "name": "tls",
          "projected": {
            "defaultMode": 288,
            "sources": [
              {
                "secret": {
                  "items": [
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
                      "path": "server.crt",
                    },
                    {
                      "key": "tls.key",
                      "path": "server.key",
                    },
                    {
                      "key": "ca.crt",
                      "path": "server-ca.crt",
                    },
                  ],
                  "name": "db-shown-tls",
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
      ]
    `);
  });

  it('its environment, where it is another', () => {
    const names = template().spec.containers[0].env.map(({ name }) => name);
    const { env } = template(fromSecret).spec.containers[0];
    expect(env.filter(({ name }) => !names.includes(name))).toMatchInlineSnapshot(`
      [
        {
          "name": "SERVER_CA_FILE",
          "value": "/etc/postgresql/tls/server-ca.crt",
        },
        {
          "name": "SERVER_CAS_ANNOTATION",
          "value": "clusterwright.dev/server-cas",
        },
      ]
    `);
  });

  it('does not depend on where the certificate comes from: nobody restarts for it', () => {
    const another: PostgresSpecInput = { tls: { server: { secretRef: { name: 'another' } } } };
    expect(template(another)).toEqual(template(fromSecret));
    expect(template(ofOperator)).toEqual(template(fromSecret));
  });
});
