/**
 * TLS of an EtcdCluster. Members know each other by their URLs, so whether there is any is decided when the cluster is
 * made. Where a source can change it does so without another authority: members that trust the old one would refuse
 * those that show the new one.
 */
import { oneSource, sameSource, sourceProperties } from '../../../api/certificate-source.ts';
import type { StructuralSchema } from '../../../api/schema.ts';

export const etcdTlsSchema = {
  type: 'object',
  description: 'Encryption of connections. A renewed certificate is taken without a restart.',
  default: {},
  properties: {
    client: {
      type: 'object',
      description:
        'Connections of clients, with exactly one of secretRef, certManager and selfManaged. It can neither be added to a cluster nor taken away, and its source stays.',
      properties: {
        ...sourceProperties(
          'Secret with the certificate of the members, for servers and clients, and with the names *.NAME.NAMESPACE.svc and NAME-client.NAMESPACE.svc. Without a common name where auth.enabled is set.',
        ),
        requireCertificate: {
          type: 'boolean',
          description: 'Let in only clients that show a certificate of the same authority.',
          default: true,
        },
        serverName: {
          type: 'string',
          description:
            'Name in the certificate of secretRef by which the operator and backups know the members, where it was made for others than these: for a cluster that was restored from, for example. When absent, NAME-client.NAMESPACE.svc.',
          pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
          maxLength: 253,
        },
      },
      'x-kubernetes-validations': [
        oneSource,
        {
          rule: '!has(self.serverName) || has(self.secretRef)',
          message: 'serverName is for a certificate in secretRef',
          fieldPath: '.serverName',
        },
      ],
    },
    peer: {
      type: 'object',
      description:
        'Connections among members, which show each other their certificates, with exactly one of secretRef, certManager and selfManaged. Immutable, but for how long certificates are good.',
      properties: sourceProperties(
        'Secret with the certificate of the members, for servers and clients, and with the name *.NAME.NAMESPACE.svc.',
      ),
      'x-kubernetes-validations': [oneSource],
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.client) == has(oldSelf.client)',
      message: 'tls.client can neither be added nor taken away',
      fieldPath: '.client',
    },
    sameSource('client'),
    {
      rule: 'has(self.peer) == has(oldSelf.peer) && (!has(self.peer) || !has(self.peer.secretRef) || !has(oldSelf.peer.secretRef) || self.peer.secretRef.name == oldSelf.peer.secretRef.name)',
      message: 'tls.peer is immutable',
      fieldPath: '.peer',
    },
    sameSource('peer'),
  ],
} as const satisfies StructuralSchema;
