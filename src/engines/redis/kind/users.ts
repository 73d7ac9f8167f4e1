/** ACL users of a cluster. */
import type { StructuralSchema } from '../../../api/schema.ts';
import { secretRefSchema } from '../../../api/secret-ref.ts';

/** Of users that are the operator's own on each server: see `client/user-record.ts`. */
export const reservedPrefix = 'clusterwright';

/**
 * All rules of all users stand in one answer of a server, of which 64 KiB are read: 32 users of 12 rules of 128 characters, with their names
 * and hashes, are less.
 */
const mostUsers = 32;

const command = '[-+]@?[A-Za-z0-9_.-]+([|][A-Za-z0-9_.-]+)?';
/** No blank, quote, backslash, parenthesis or semicolon: it is one word on every way to a server, and between semicolons in a record. */
const pattern = '(~|&|%(R|W|RW|WR)~)[!#$%&*+,./:<=>?@\\[\\]^_{|}~0-9A-Za-z-]+';
const word = 'allkeys|resetkeys|allchannels|resetchannels|allcommands|nocommands|alldbs|resetdbs|db=[0-9]+(,[0-9]+)*';
const plain = `(${command}|${pattern}|${word})`;
const rulePattern = `^(${plain}|[(]${plain}( ${plain})*[)])$`;

export const usersSchema = {
  type: 'array',
  description:
    'ACL users on the Redis nodes, besides the user default. The operator removes users that it has created and that this list no longer contains. It does not change other users.',
  maxItems: mostUsers,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    description: 'One user.',
    required: ['name', 'secretRef', 'rules'],
    properties: {
      name: {
        type: 'string',
        description: 'Name with which clients log in.',
        maxLength: 63,
        pattern: '^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$',
        'x-kubernetes-validations': [
          {
            rule: `self != 'default' && !self.startsWith('${reservedPrefix}')`,
            message: `the user default and names that begin with ${reservedPrefix} are reserved`,
          },
        ],
      },
      secretRef: {
        ...secretRefSchema,
        description:
          'Secret with the password. The user can also log in with the passwords in the keys KEY-next and KEY-previous.',
      },
      rules: {
        type: 'array',
        description:
          'Rules as in ACL SETUSER: commands, categories, keys, channels, and selectors in parentheses. Without rules, a user may do nothing.',
        maxItems: 12,
        'x-kubernetes-list-type': 'atomic',
        items: {
          type: 'string',
          description: 'One rule, for example +@read, ~app:* or (+get ~other:*).',
          maxLength: 128,
          pattern: rulePattern,
        },
      },
      admin: {
        type: 'boolean',
        description:
          'Whether the rules may allow commands of the category @admin, and PUBLISH on the channel of Sentinel.',
        default: false,
      },
    },
  },
} as const satisfies StructuralSchema;
