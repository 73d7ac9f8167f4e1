/** Where the agent finds an etcd cluster, and how the volume of the first member of a new one is made of a snapshot. */
import type { Cluster } from '../../../api/cluster.ts';
import { unitsOf } from '../../../api/quantity.ts';
import { type BackupSupport, type MountedSecret, restoredVolume, roomFor } from '../../../engine/backup-support.ts';
import { passwordSecret } from '../client/password.ts';
import { sessionOf } from '../client/session.ts';
import type { EtcdSpec } from '../kind/schema.ts';
import { clientPort, etcdNames, memberName, paths, peerUrl, retiredAnnotation, serverName } from '../names.ts';
import { clientSecret } from '../resources/certificates.ts';
import { etcdImage } from '../resources/pods.ts';
import { placeCommand } from './restored-directory.ts';

const authDirectory = '/etc/clusterwright/auth';
const tlsDirectory = '/etc/clusterwright/tls';

const snapshot = { volume: 'snapshot', directory: '/snapshot', file: '/snapshot/snapshot.db' } as const;

/** In the same image as etcd itself. */
const restoreProgram = '/usr/local/bin/etcdutl';

/** What etcd's own documentation advises: no client that has seen the old cluster meets a revision twice. */
const revisionsSkipped = 1_000_000_000;

/** For a hash of all keys a member reads its whole database: 2.5 s for each GiB, and nobody else waits for it here. */
const hashTimeoutMs = 50_000;

type ClientTls = NonNullable<EtcdSpec['tls']['client']>;

export const etcdBackup: BackupSupport<EtcdSpec> = {
  /** Each member, as far as they are known, and the Service of those that are ready: members come and go. */
  source(cluster) {
    const { metadata, spec } = cluster;
    const { client } = spec.tls;
    const names = etcdNames(metadata.name);
    const host = `${names.client}.${metadata.namespace}.svc`;
    const peerDomain = `${names.peers}.${metadata.namespace}.svc`;
    const known = (cluster.status?.members ?? []).map(({ name }) => `${name}.${peerDomain}`);
    return {
      source: {
        engine: 'etcd',
        user: 'root',
        members: [...known, host].map((name) => ({ host: name, port: clientPort })),
        passwordFile: `${authDirectory}/password`,
        peerDomain,
        ...(client === undefined
          ? {}
          : {
              tls: {
                caFile: `${tlsDirectory}/ca.crt`,
                certFile: `${tlsDirectory}/tls.crt`,
                keyFile: `${tlsDirectory}/tls.key`,
                servername: serverName(cluster),
              },
            }),
      },
      secrets: secretsOf(cluster),
      scratch: roomOf(cluster),
      ...keepFor(cluster),
      topology: spec.replicas === 1 ? '1 member' : `${spec.replicas} members`,
    };
  },

  restoreTemplate(cluster) {
    const { metadata, spec } = cluster;
    const name = memberName(metadata.name, 0);
    const url = peerUrl(cluster, 0);
    const bump = spec.bootstrap?.restore.bumpRevision ?? true;
    // Each pod makes its own: one that was killed leaves only half a directory.
    const made = '$(POD_NAME)';
    return {
      set: name,
      destination: { engine: 'etcd', file: snapshot.file, version: spec.version },
      fetchMounts: [{ name: snapshot.volume, mountPath: snapshot.directory }],
      // What does not fit here would not fit into the member's volume.
      volumes: [{ name: snapshot.volume, emptyDir: { sizeLimit: roomOf(cluster) } }],
      containers: [
        {
          name: 'restore',
          image: etcdImage(cluster),
          command: [
            restoreProgram,
            'snapshot',
            'restore',
            snapshot.file,
            `--name=${name}`,
            `--initial-cluster=${name}=${url}`,
            `--initial-advertise-peer-urls=${url}`,
            `--initial-cluster-token=${metadata.uid ?? metadata.name}`,
            `--data-dir=${paths.volume}/${made}`,
            ...(bump ? [`--bump-revision=${revisionsSkipped}`, '--mark-compacted'] : []),
          ],
          env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          mounts: [
            { name: snapshot.volume, mountPath: snapshot.directory, readOnly: true },
            { name: restoredVolume, mountPath: paths.volume },
          ],
        },
        {
          name: 'place',
          command: placeCommand(paths.volume, made, paths.data.replace(/^.*\//, '')),
          env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          mounts: [{ name: restoredVolume, mountPath: paths.volume }],
        },
      ],
      annotations: {},
      retired: retiredAnnotation,
    };
  },

  /**
   * It holds the same data, so it lets in nobody whom the other one would not. Users are a part of the data, so the old
   * password is what lets anybody in; and no certificate has the name of a cluster that is there for a minute.
   */
  drill(cluster) {
    const { version, image, storage, resources, scheduling, config, auth, tls } = cluster.spec;
    const { client, peer } = tls;
    return {
      ...{ version, replicas: 1, storage, resources, scheduling, config },
      ...(image === undefined ? {} : { image }),
      auth: { enabled: auth.enabled, secretRef: passwordSecret(cluster) },
      tls: {
        ...(client === undefined ? {} : { client: clientOf(client, serverName(cluster)) }),
        ...(peer === undefined ? {} : { peer: peer.secretRef === undefined ? { selfManaged: {} } : peer }),
      },
    };
  },

  // Revisions are compared.
  drillRestore: { bumpRevision: false },
  drillDefaults: 'the default settings, without TLS, and lets everybody in',
  specVersion: (engineVersion) => engineVersion,

  async contents(cluster, children, io, { revision = '0' }) {
    const address = children.pods[0]?.status?.podIP;
    if (address === undefined) throw new Error('no member has an address');
    const answer = await sessionOf(cluster, io).call(address, 'maintenance/hashkv', { revision }, hashTimeoutMs);
    const { revision: current } = (answer.header ?? {}) as { readonly revision?: string };
    return {
      revision: String(current ?? '0'),
      hash: String(answer.hash ?? '0'),
      compactRevision: String(answer.compact_revision ?? '0'),
    };
  },

  /** A snapshot may hold changes after the revision that was told; -1 and 0 both say that nothing was ever compacted. */
  isSame(name, wanted, found = '0') {
    if (name === 'revision') return BigInt(found) >= BigInt(wanted);
    return found === wanted || (name === 'compactRevision' && Number(found) <= 0 && Number(wanted) <= 0);
  },
};

/** Users are a part of the data, and their passwords are in it as hashes only. */
function keepFor(cluster: Cluster<EtcdSpec>): { readonly keep?: string } {
  if (!cluster.spec.auth.enabled) return {};
  const { name, key } = passwordSecret(cluster);
  return { keep: `the password of root (Secret ${name}, key ${key})` };
}

/** No database is larger than the volume that it lies on. */
function roomOf({ spec }: Cluster<EtcdSpec>): string {
  return roomFor(unitsOf(spec.storage.size));
}

/** Where nobody brings one, the cluster that is there for a minute has certificates of its own, which go with it. */
function clientOf(client: ClientTls, serverName: string): object {
  const { secretRef, requireCertificate } = client;
  return secretRef === undefined
    ? { selfManaged: {}, requireCertificate }
    : { secretRef, requireCertificate, serverName };
}

function secretsOf(cluster: Cluster<EtcdSpec>): MountedSecret[] {
  const certificates = clientSecret(cluster);
  const { name, key } = passwordSecret(cluster);
  const files = { 'ca.crt': 'ca.crt', 'tls.crt': 'tls.crt', 'tls.key': 'tls.key' };
  return [
    // There is none where authentication is off and somebody has deleted it.
    { name, volume: 'auth', directory: authDirectory, files: { [key]: 'password' }, optional: true },
    ...(certificates === undefined ? [] : [{ name: certificates, volume: 'tls', directory: tlsDirectory, files }]),
  ];
}
