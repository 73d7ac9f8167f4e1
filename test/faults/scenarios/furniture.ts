/** What the scenarios of backups find: where backups are kept, and the Secrets for it. */
import type { KubeObject } from '../../../src/api/object.ts';
import { storeAddress, storePort } from '../backup/vault.ts';

export const backupPrefix = 'team';
export const backupClaim = 'backups';
/** As in the Secret: 32 bytes in base64. */
export const encryptionKey = Buffer.alloc(32, 'a key that only the simulation has').toString('base64');

export const secret = (name: string, stringData: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData,
});

const credentials = secret('s3', { accessKeyId: 'AKID-OF-THE-STORE', secretAccessKey: 'secret-of-the-store' });
const key = secret('backup-key', { key: encryptionKey });

const claim: KubeObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: backupClaim },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

export interface Keeping {
  readonly furniture: readonly KubeObject[];
  /** For a spec. */
  readonly place: { readonly target: object; readonly encryption?: object };
}

/** In the bucket, encrypted. */
export const inBucket: Keeping = {
  furniture: [credentials, key],
  place: {
    target: {
      s3: {
        endpoint: `http://${storeAddress}:${storePort}`,
        bucket: 'backups',
        prefix: backupPrefix,
        credentials: credentials.metadata.name,
      },
    },
    encryption: { secret: key.metadata.name },
  },
};

/** On a claim, as it is. */
export const onClaim: Keeping = {
  furniture: [claim],
  place: { target: { claim: { name: backupClaim, path: backupPrefix } } },
};
