/**
 * Where backups are kept, and with which key they are closed: the same fields wherever a backup is taken or read. A
 * target is named in full each time, so that none depends on another object, which may be gone when it is needed.
 */
import type { StructuralSchema } from './schema.ts';

const objectName = '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$';

const secretName = <const Description extends string>(description: Description) =>
  ({ type: 'string', description, pattern: objectName, maxLength: 253 }) as const satisfies StructuralSchema;

const segments = '^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$';

const s3Schema = {
  type: 'object',
  description: 'A bucket of a server that speaks the protocol of S3.',
  required: ['endpoint', 'bucket'],
  properties: {
    endpoint: {
      type: 'string',
      description: 'URL of the server, without a path.',
      pattern: '^https?://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?$',
      maxLength: 280,
    },
    bucket: {
      type: 'string',
      description: 'Name of the bucket, which must exist.',
      pattern: '^[a-z0-9][-a-z0-9.]*[a-z0-9]$',
      minLength: 3,
      maxLength: 63,
    },
    prefix: {
      type: 'string',
      description: 'Path in the bucket that everything is kept below.',
      pattern: segments,
      maxLength: 200,
    },
    region: {
      type: 'string',
      description: 'Region that requests are signed for.',
      default: 'us-east-1',
      pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
      maxLength: 63,
    },
    pathStyle: {
      type: 'boolean',
      description: 'Name the bucket in the path instead of the host, as servers other than that of AWS want it.',
      default: true,
    },
    credentials: secretName(
      'Secret with the keys accessKeyId and secretAccessKey, in the same namespace; with sessionToken, too, where they are temporary.',
    ),
    serviceAccountName: {
      type: 'string',
      description:
        'Instead of credentials: ServiceAccount of the same namespace whose identity the server knows, by what the platform gives its pods (IRSA, EKS Pod Identity) or by webIdentity. It must carry the annotation clusterwright.dev/for-backups: "true".',
      pattern: objectName,
      maxLength: 253,
    },
    webIdentity: {
      type: 'object',
      description:
        'Where the platform gives pods nothing by itself: a token of the ServiceAccount is exchanged for credentials that last for an hour, and are renewed (AssumeRoleWithWebIdentity).',
      properties: {
        roleArn: {
          type: 'string',
          description: 'The role. AWS and Ceph want one; MinIO may have it from the token.',
          pattern: '^arn:[a-zA-Z0-9:/_+=,.@-]+$',
          maxLength: 2048,
        },
        endpoint: {
          type: 'string',
          description:
            'URL of the security token service. Absent: that of AWS where the endpoint of the bucket is of AWS, else the endpoint of the bucket. One that is not of AWS must stand on the ServiceAccount, too: clusterwright.dev/sts-endpoint.',
          pattern: '^https?://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~-]+)*$',
          maxLength: 512,
        },
        audience: {
          type: 'string',
          description:
            'Whom the token is for. Another one than the default must stand on the ServiceAccount, too: clusterwright.dev/sts-audience.',
          default: 'sts.amazonaws.com',
          pattern: '^[A-Za-z0-9][A-Za-z0-9:/._-]*$',
          maxLength: 256,
        },
      },
    },
    serverSideEncryption: {
      type: 'object',
      description:
        'What the server is asked to encrypt with, besides the encryption of backups. Absent: what the bucket says.',
      required: ['algorithm'],
      properties: {
        algorithm: { type: 'string', description: 'The method.', enum: ['AES256', 'aws:kms'] },
        kmsKeyId: {
          type: 'string',
          description: 'Key of the key management service. Absent: that of the bucket.',
          pattern: '^[A-Za-z0-9:/_-]+$',
          maxLength: 2048,
        },
      },
      'x-kubernetes-validations': [
        {
          rule: "!has(self.kmsKeyId) || self.algorithm == 'aws:kms'",
          message: 'kmsKeyId is for the algorithm aws:kms',
        },
      ],
    },
    ca: secretName(
      'Secret with the key ca.crt: authorities that the server is trusted by, instead of the public ones; also a security token service that is not of AWS.',
    ),
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.credentials) != has(self.serviceAccountName)',
      message: 'must have either credentials or serviceAccountName',
    },
    { rule: '!has(self.webIdentity) || has(self.serviceAccountName)', message: 'webIdentity needs serviceAccountName' },
  ],
} as const satisfies StructuralSchema;

const claimSchema = {
  type: 'object',
  description: 'A PersistentVolumeClaim of the same namespace.',
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      description: 'Name of the claim, which must exist.',
      pattern: objectName,
      maxLength: 253,
    },
    path: {
      type: 'string',
      description: 'Path in the volume that everything is kept below.',
      pattern: segments,
      maxLength: 200,
    },
  },
} as const satisfies StructuralSchema;

export const targetSchema = {
  type: 'object',
  description: 'Where backups are kept: one of s3 and claim.',
  properties: { s3: s3Schema, claim: claimSchema },
  'x-kubernetes-validations': [{ rule: 'has(self.s3) != has(self.claim)', message: 'must have either s3 or claim' }],
} as const satisfies StructuralSchema;

export const encryptionSchema = {
  type: 'object',
  description: 'The key that backups are encrypted and sealed with. Without it they are neither.',
  required: ['secret'],
  properties: {
    secret: secretName('Secret with the key named key: 32 random bytes in base64. Whoever loses it loses the backups.'),
  },
} as const satisfies StructuralSchema;

/** What is backed up. */
export const backedUpSchema = {
  type: 'object',
  description: 'The cluster to back up, in the same namespace.',
  required: ['kind', 'name'],
  properties: {
    kind: {
      type: 'string',
      description: 'Its kind: one that the operator serves.',
      pattern: '^[A-Z][A-Za-z0-9]*$',
      maxLength: 63,
    },
    name: {
      type: 'string',
      description: 'Its name.',
      pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
      maxLength: 40,
    },
  },
} as const satisfies StructuralSchema;

/** A target after defaulting, as every kind has it. */
export interface BackupTarget {
  readonly s3?: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly prefix?: string;
    readonly region: string;
    readonly pathStyle: boolean;
    readonly credentials?: string;
    readonly serviceAccountName?: string;
    readonly webIdentity?: { readonly roleArn?: string; readonly endpoint?: string; readonly audience: string };
    readonly serverSideEncryption?: { readonly algorithm: 'AES256' | 'aws:kms'; readonly kmsKeyId?: string };
    readonly ca?: string;
  };
  readonly claim?: { readonly name: string; readonly path?: string };
}

export interface BackupEncryption {
  readonly secret: string;
}
