/** The fields of every kind that say what may be done to a cluster. */
import type { StructuralSchema } from './schema.ts';

export const deletionPolicySchema = {
  type: 'string',
  description:
    'What happens to volumes and generated Secrets when the cluster is deleted: Retain keeps them, Delete does not, Snapshot does not either once a last backup has been taken and verified. It keeps a password that the backup cannot be used without.',
  enum: ['Retain', 'Snapshot', 'Delete'],
  default: 'Retain',
} as const satisfies StructuralSchema;

/** `meanwhile`: what the database goes on doing by itself. */
export const pausedSchema = (meanwhile: string) =>
  ({ type: 'boolean', description: `Stop all changes. ${meanwhile}`, default: false }) as const;
