import { describe, expect, it } from 'vitest';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { etcdResources } from '../../../src/engines/etcd/resources/resources.ts';
import { etcdCluster } from '../../support/etcd-situation.ts';

/**
 * Whatever changes in a pod template restarts every member of every cluster when the operator is upgraded. A change of
 * these snapshots is a decision that belongs into the changelog, not a chore.
 */
const template = (spec: EtcdSpecInput): { readonly containers: readonly Container[] } => {
  const set = etcdResources(etcdCluster(spec)).find(({ object }) => object.metadata.name === 'db-1')?.object;
  if (set === undefined) throw new Error('there is no member 1');
  return (set.spec as { template: { spec: { containers: readonly Container[] } } }).template.spec;
};
interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly [field: string]: unknown;
}
const settings = (spec: EtcdSpecInput): string[] =>
  template(spec).containers.flatMap(({ env }) =>
    env.map(({ name, value }) => `${name}=${value ?? '(from the roster)'}`),
  );

describe('a golden pod template of etcd', () => {
  it('without TLS: settings', () => {
    expect(settings({ version: '3.6.16' }).join('\n')).toMatchInlineSnapshot(`
      "ETCD_NAME=db-1
      ETCD_DATA_DIR=/var/lib/etcd/data
      ETCD_LISTEN_PEER_URLS=http://0.0.0.0:2380
      ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379
      ETCD_LISTEN_METRICS_URLS=http://0.0.0.0:2381
      ETCD_INITIAL_ADVERTISE_PEER_URLS=http://db-1-0.db.apps.svc:2380
      ETCD_ADVERTISE_CLIENT_URLS=http://db-1-0.db.apps.svc:2379
      ETCD_INITIAL_CLUSTER_TOKEN=uid-db
      ETCD_QUOTA_BACKEND_BYTES=483183820
      ETCD_AUTO_COMPACTION_MODE=periodic
      ETCD_AUTO_COMPACTION_RETENTION=1h
      ETCD_SNAPSHOT_COUNT=10000
      ETCD_HEARTBEAT_INTERVAL=100
      ETCD_ELECTION_TIMEOUT=1000
      ETCD_MAX_LEARNERS=2
      ETCD_FEATURE_GATES=InitialCorruptCheck=true,CompactHashCheck=true
      ETCD_INITIAL_CLUSTER_STATE=(from the roster)
      ETCD_INITIAL_CLUSTER=(from the roster)
      ETCD_FORCE_NEW_CLUSTER=(from the roster)"
    `);
  });

  it('without TLS: probes', () => {
    const [{ startupProbe, readinessProbe, livenessProbe } = {} as Container] = template({}).containers;
    expect({ startupProbe, readinessProbe, livenessProbe }).toMatchInlineSnapshot(`
      {
        "livenessProbe": {
          "failureThreshold": 6,
          "httpGet": {
            "path": "/livez?exclude=serializable_read",
            "port": "metrics",
            "scheme": "HTTP",
          },
          "periodSeconds": 10,
          "timeoutSeconds": 5,
        },
        "readinessProbe": {
          "failureThreshold": 2,
          "httpGet": {
            "path": "/readyz",
            "port": "metrics",
            "scheme": "HTTP",
          },
          "periodSeconds": 2,
          "timeoutSeconds": 5,
        },
        "startupProbe": {
          "failureThreshold": 86400,
          "httpGet": {
            "path": "/livez",
            "port": "metrics",
            "scheme": "HTTP",
          },
          "periodSeconds": 1,
          "timeoutSeconds": 5,
        },
      }
    `);
  });

  it.each(['3.5.35', '3.6.16'])('with TLS among peers by an issuer of yours: what comes with it in %s', (version) => {
    const plain = new Set(settings({ version }));
    const peer = { certManager: { issuerRef: { name: 'platform-ca', kind: 'ClusterIssuer' as const } } };
    expect(settings({ version, tls: { peer } }).filter((line) => !plain.has(line))).toEqual([
      'ETCD_LISTEN_PEER_URLS=https://0.0.0.0:2380',
      'ETCD_INITIAL_ADVERTISE_PEER_URLS=https://db-1-0.db.apps.svc:2380',
      'ETCD_PEER_CERT_FILE=/etc/etcd/tls/peer/tls.crt',
      'ETCD_PEER_KEY_FILE=/etc/etcd/tls/peer/tls.key',
      'ETCD_PEER_TRUSTED_CA_FILE=/etc/etcd/tls/peer/ca.crt',
      'ETCD_PEER_CLIENT_CERT_AUTH=true',
      `ETCD_${version.startsWith('3.5') ? 'EXPERIMENTAL_' : ''}PEER_SKIP_CLIENT_SAN_VERIFICATION=true`,
      'ETCD_PEER_CERT_ALLOWED_HOSTNAME=db-1-0.db.apps.svc',
    ]);
  });

  it('with an authority of our own among peers: it signs for them alone, and no name is asked for', () => {
    const lines = settings({ tls: { peer: { selfManaged: {} } } });
    expect(lines.some((line) => line.includes('ALLOWED_HOSTNAME'))).toBe(false);
  });
});
