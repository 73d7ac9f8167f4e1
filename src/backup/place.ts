/**
 * Where backups are kept, as the agent is told: a bucket of a server that speaks S3, or a mounted directory.
 *
 * Nothing secret is in here. Credentials are files, since they come from mounted Secrets.
 */
import type { Defaulted, StructuralSchema } from '../api/schema.ts';

export const absolutePath = { type: 'string', pattern: '^/[^\\u0000]*$', maxLength: 4096 } as const;

const prefix = {
  type: 'string',
  description: 'Folder below which everything is kept; no slash at either end. Empty: the root.',
  default: '',
  // No part may be `.` or `..`, or empty.
  pattern: '^$|^(?!\\.{1,2}(/|$))[A-Za-z0-9._=-]+(/(?!\\.{1,2}(/|$))[A-Za-z0-9._=-]+)*$',
  maxLength: 512,
} as const;

export const s3PlaceSchema = {
  type: 'object',
  required: ['type', 'endpoint', 'bucket'],
  properties: {
    type: { type: 'string', enum: ['s3'] },
    endpoint: {
      type: 'string',
      description: 'http(s)://HOST[:PORT]',
      pattern: '^https?://[^/?#@\\s]+/?$',
      maxLength: 512,
    },
    region: { type: 'string', default: 'us-east-1', pattern: '^[a-zA-Z0-9-]+$', maxLength: 64 },
    bucket: { type: 'string', pattern: '^[a-z0-9][a-z0-9.-]+[a-z0-9]$', minLength: 3, maxLength: 63 },
    prefix,
    pathStyle: {
      type: 'boolean',
      description: 'ENDPOINT/BUCKET/KEY rather than BUCKET.ENDPOINT/KEY.',
      default: true,
    },
    accessKeyIdFile: {
      ...absolutePath,
      description: 'With the next one. Absent, both: what the platform tells the process in its environment.',
    },
    secretAccessKeyFile: absolutePath,
    sessionTokenFile: { ...absolutePath, description: 'Where there is no such file, the credentials have no token.' },
    serverSideEncryption: {
      type: 'object',
      required: ['algorithm'],
      properties: {
        algorithm: { type: 'string', enum: ['AES256', 'aws:kms'] },
        kmsKeyId: { type: 'string', pattern: '^[A-Za-z0-9:/_-]+$', maxLength: 2048 },
      },
    },
    caFile: { ...absolutePath, description: 'Authorities, in PEM, instead of the public ones.' },
  },
} as const satisfies StructuralSchema;

export const claimPlaceSchema = {
  type: 'object',
  required: ['type', 'directory'],
  properties: {
    type: { type: 'string', enum: ['claim'] },
    directory: { ...absolutePath, description: 'Where the claim is mounted. It must be there; it is never made.' },
    prefix,
  },
} as const satisfies StructuralSchema;

export type S3Place = Defaulted<typeof s3PlaceSchema>;
export type ClaimPlace = Defaulted<typeof claimPlaceSchema>;
export type Place = S3Place | ClaimPlace;
