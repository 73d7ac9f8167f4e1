/**
 * TLS of an EtcdCluster. Members know each other by their URLs, so whether there is any is decided when the cluster is
 * made. Where a source can change it does so without another authority: members that trust the old one would refuse
 * those that show the new one.
 */
import { oneSource, sameSource, sourceProperties } from '../../../api/certificate-source.ts';
import type { StructuralSchema } from '../../../api/schema.ts';

export const etcdTlsSchema = {
  type: 'object',
  description: 'Encryption of connections. Members use a renewed certificate without a restart.',
  default: {},
  properties: {
    client: {
      type: 'object',
      description:
        'Connections of clients, with exactly one of secretRef, certManager and selfManaged. It cannot be added or removed later, and its source is immutable.',
      properties: {
        ...sourceProperties(
          'Secret with the certificate of the members. It must be valid for server and client authentication, and for the names *.NAME.NAMESPACE.svc and NAME-client.NAMESPACE.svc. With auth.enabled it must have no common name.',
        ),
        requireCertificate: {
          type: 'boolean',
          description: 'Accept only clients with a certificate of the same CA.',
          default: true,
        },
        serverName: {
          type: 'string',
          description:
            'Server name that the operator and backups expect in the certificate of secretRef, if the certificate was issued for other names, for example those of the cluster that a backup came from. When absent, NAME-client.NAMESPACE.svc.',
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
        'Connections between members, with exactly one of secretRef, certManager and selfManaged. Members verify the certificates of each other. Immutable, except for the lifetimes of certificates.',
      properties: sourceProperties(
        'Secret with the certificate of the members. It must be valid for server and client authentication, and for the name *.NAME.NAMESPACE.svc.',
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
