import { describe, expect, it } from 'vitest';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { specWarnings } from '../../../src/engines/etcd/plan/warnings.ts';
import { etcdCluster } from '../../support/etcd-situation.ts';

const by = (kind: 'Issuer' | 'ClusterIssuer', more: object = {}): EtcdSpecInput => ({
  tls: { client: { certManager: { issuerRef: { name: 'platform-ca', kind } }, ...more } },
});

describe('a warning about a spec', () => {
  it.each<[string, EtcdSpecInput, readonly string[]]>([
    ['is given where an issuer of all namespaces says who is a client', by('ClusterIssuer'), ['ClusterWideIssuer']],
    [
      'is given where one of another group does',
      {
        tls: {
          client: {
            certManager: { issuerRef: { name: 'a', kind: 'AWSPCAClusterIssuer', group: 'awspca.cert-manager.io' } },
          },
        },
      },
      ['ClusterWideIssuer'],
    ],
    ['is not where the issuer is of the namespace', by('Issuer'), []],
    ['is not where clients show no certificate', by('ClusterIssuer', { requireCertificate: false }), []],
    ['is not where the operator makes the certificates', { tls: { client: { selfManaged: {} } } }, []],
    ['is not without TLS', {}, []],
    ...(['LoadBalancer', 'NodePort'] as const).flatMap((type): [string, EtcdSpecInput, readonly string[]][] => {
      const access = { clients: { type } };
      const without = { client: { selfManaged: {}, requireCertificate: false } };
      return [
        [`is given where everybody may write through a ${type}`, { access }, ['OpenAccess']],
        [`is given for a ${type} where clients need no certificate`, { access, tls: without }, ['OpenAccess']],
        [`is not for a ${type} where they need one`, { access, tls: { client: { selfManaged: {} } } }, []],
        [`is not for a ${type} where they need a password`, { access, auth: { enabled: true } }, []],
      ];
    }),
    ['is not for a Service inside', { access: { clients: { type: 'ClusterIP' } } }, []],
  ])('%s', (_, spec, reasons) => {
    expect(specWarnings(etcdCluster(spec)).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('names what a certificate with the common name root may do', () => {
    const [warning] = specWarnings(etcdCluster({ ...by('ClusterIssuer'), auth: { enabled: true } }));
    expect(warning?.message).toContain('one with the common name root is the user root');
  });
});
