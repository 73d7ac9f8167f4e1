/** A point in the log of a database, in the ways in which people know one. */
import type { Defaulted, StructuralSchema } from '../../../api/schema.ts';

/** Where a restore ends. PostgreSQL's own names are `recovery_target_*`. */
export const untilSchema = {
  type: 'object',
  description:
    'Restore to this point, with the archived log of the cluster. When it is absent, and `id` as well, all of the archived log is restored.',
  properties: {
    time: {
      type: 'string',
      description: 'The last commit at or before this time, in UTC: 2026-01-31T12:00:00Z.',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?Z$',
      maxLength: 27,
    },
    lsn: {
      type: 'string',
      description: 'Position in the log: 16/B374D848.',
      pattern: '^[0-9A-F]{1,8}/[0-9A-F]{1,8}$',
      maxLength: 17,
    },
    name: {
      type: 'string',
      description: 'Restore point, made with pg_create_restore_point.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9 ._:-]*$',
      maxLength: 63,
    },
    xid: { type: 'string', description: 'ID of a transaction.', pattern: '^[0-9]+$', maxLength: 20 },
  },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.time) ? 1 : 0) + (has(self.lsn) ? 1 : 0) + (has(self.name) ? 1 : 0) + (has(self.xid) ? 1 : 0) == 1',
      message: 'must have exactly one of time, lsn, name, xid',
    },
  ],
} as const satisfies StructuralSchema;

export type Until = Defaulted<typeof untilSchema>;
