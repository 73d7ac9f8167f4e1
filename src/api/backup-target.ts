/**
 * Where backups are kept, and with which key they are closed: the same fields wherever a backup is taken or read. A
 * target is named in full each time, so that none depends on another object, which may be gone when it is needed.
 */
import { objectNamePattern } from './metadata.ts';
import type { StructuralSchema } from './schema.ts';

/** Of an S3 server. */
export const endpointPattern = '^https?://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?$';
export const bucketPattern = '^[a-z0-9][-a-z0-9.]*[a-z0-9]$';

const secretName = <const Description extends string>(description: Description) =>
  ({ type: 'string', description, pattern: objectNamePattern, maxLength: 253 }) as const satisfies StructuralSchema;

const segments = '^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$';

const s3Schema = {
  type: 'object',
  description: 'A bucket on an S3-compatible server.',
  required: ['endpoint', 'bucket'],
  properties: {
    endpoint: {
      type: 'string',
      description: 'URL of the server, without a path.',
      pattern: endpointPattern,
      maxLength: 280,
    },
    bucket: {
      type: 'string',
      description: 'Name of the bucket, which must exist.',
      pattern: bucketPattern,
      minLength: 3,
      maxLength: 63,
    },
    prefix: {
      type: 'string',
      description: 'Prefix of all object keys in the bucket.',
      pattern: segments,
      maxLength: 200,
    },
    region: {
      type: 'string',
      description: 'Region in the signatures of requests.',
      default: 'us-east-1',
      pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
      maxLength: 63,
    },
    pathStyle: {
      type: 'boolean',
      description:
        'Put the name of the bucket into the path instead of the host name. Most servers other than AWS require this.',
      default: true,
    },
    credentials: secretName(
      'Secret in the same namespace with the keys accessKeyId and secretAccessKey, and sessionToken if the credentials are temporary.',
    ),
    serviceAccountName: {
      type: 'string',
      description:
        'Instead of credentials: ServiceAccount in the same namespace that gets credentials of the server from the platform (IRSA, EKS Pod Identity) or through webIdentity. It must have the annotation clusterwright.dev/for-backups: "true".',
      pattern: objectNamePattern,
      maxLength: 253,
    },
    webIdentity: {
      type: 'object',
      description:
        'For platforms that do not give credentials to pods. The agent exchanges a token of the ServiceAccount for credentials that are valid for an hour, and renews them (AssumeRoleWithWebIdentity).',
      properties: {
        roleArn: {
          type: 'string',
          description: 'ARN of the role. AWS and Ceph require it. MinIO can take the role from the token.',
          pattern: '^arn:[a-zA-Z0-9:/_+=,.@-]+$',
          maxLength: 2048,
        },
        endpoint: {
          type: 'string',
          description:
            'URL of the security token service. When absent, that of AWS if the bucket is on AWS, else the endpoint of the bucket. A URL outside AWS must also be in the annotation clusterwright.dev/sts-endpoint of the ServiceAccount.',
          pattern: '^https?://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~-]+)*$',
          maxLength: 512,
        },
        audience: {
          type: 'string',
          description:
            'Audience of the token. An audience other than the default must also be in the annotation clusterwright.dev/sts-audience of the ServiceAccount.',
          default: 'sts.amazonaws.com',
          pattern: '^[A-Za-z0-9][A-Za-z0-9:/._-]*$',
          maxLength: 256,
        },
      },
    },
    serverSideEncryption: {
      type: 'object',
      description:
        'Encryption by the server, in addition to the encryption of backups. When absent, the default of the bucket applies.',
      required: ['algorithm'],
      properties: {
        algorithm: { type: 'string', description: 'Encryption method of the server.', enum: ['AES256', 'aws:kms'] },
        kmsKeyId: {
          type: 'string',
          description: 'Key of the key management service. When absent, the key of the bucket.',
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
      'Secret with the key ca.crt: CA certificates with which the agent verifies the server, instead of the public CAs. They also apply to a security token service outside AWS.',
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
  description: 'A PersistentVolumeClaim in the same namespace.',
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      description: 'Name of the PersistentVolumeClaim, which must exist.',
      pattern: objectNamePattern,
      maxLength: 253,
    },
    path: {
      type: 'string',
      description: 'Directory in the volume for all backups.',
      pattern: segments,
      maxLength: 200,
    },
  },
} as const satisfies StructuralSchema;

export const targetSchema = {
  type: 'object',
  description: 'Where backups are stored: either s3 or claim.',
  properties: { s3: s3Schema, claim: claimSchema },
  'x-kubernetes-validations': [{ rule: 'has(self.s3) != has(self.claim)', message: 'must have either s3 or claim' }],
} as const satisfies StructuralSchema;

export const encryptionSchema = {
  type: 'object',
  description:
    'The key that encrypts and authenticates backups. When absent, backups are not encrypted, and a checksum replaces the authentication.',
  required: ['secret'],
  properties: {
    secret: secretName('Secret with the key named key: 32 random bytes in base64. Without it, no backup can be read.'),
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
      description: 'Kind of the cluster. The operator must serve it.',
      pattern: '^[A-Z][A-Za-z0-9]*$',
      maxLength: 63,
    },
    name: {
      type: 'string',
      description: 'Name of the cluster.',
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
