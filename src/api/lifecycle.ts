/** The fields of every kind that say what may be done to a cluster. */
import type { StructuralSchema } from './schema.ts';

export const deletionPolicySchema = {
  type: 'string',
  description:
    'What happens to volumes and generated Secrets when the cluster is deleted. Retain keeps them. Delete deletes them. Snapshot takes a last backup, verifies it, and then deletes them, except for a password that a restore needs.',
  enum: ['Retain', 'Snapshot', 'Delete'],
  default: 'Retain',
} as const satisfies StructuralSchema;

/** `meanwhile`: what the database goes on doing by itself. */
export const pausedSchema = (meanwhile: string) =>
  ({ type: 'boolean', description: `Stop all changes by the operator. ${meanwhile}`, default: false }) as const;
