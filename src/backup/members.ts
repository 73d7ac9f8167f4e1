/** Parts of what an engine tells the agent of its members: where they are, and how connections to them are secured. */
import type { Defaulted, StructuralSchema } from '../api/schema.ts';
import { absolutePath } from './place.ts';

/** As many as a task may name. */
export const mostMembers = 64;

export const membersSchema = {
  type: 'array',
  minItems: 1,
  maxItems: mostMembers,
  items: {
    type: 'object',
    required: ['host', 'port'],
    properties: {
      host: { type: 'string', pattern: '^[A-Za-z0-9.:_-]+$', maxLength: 253 },
      port: { type: 'integer', minimum: 1, maximum: 65535 },
    },
  },
} as const satisfies StructuralSchema;

export const tlsFilesSchema = {
  type: 'object',
  description: 'Absent: connections are not secured.',
  required: ['caFile'],
  properties: {
    caFile: absolutePath,
    certFile: absolutePath,
    keyFile: absolutePath,
    servername: {
      type: 'string',
      description: 'The name that certificates must be for, where it is not the host that is dialled.',
      maxLength: 253,
    },
    anyName: { type: 'boolean', description: 'Certificates may be for any name. Their CA is checked.' },
  },
} as const satisfies StructuralSchema;

export type Endpoint = Defaulted<typeof membersSchema>[number];
export type TlsFiles = Defaulted<typeof tlsFilesSchema>;
