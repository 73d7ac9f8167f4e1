/** Defects in how ACL users of Redis are set and removed. */
import type { Mutant } from './mutant.ts';

export const userMutants: readonly Mutant[] = [
  {
    id: 'user-before-record',
    defect: 'a user is set before the record says so: an operator that dies in between never removes it',
    edits: [
      {
        file: 'engines/redis/act/users.ts',
        find: `      await connection.command('ACL', 'SETUSER', ...recordRule(records));
      await connection.command('ACL', 'SETUSER', user.name, 'reset', 'on', ...user.words);`,
        replace: `      await connection.command('ACL', 'SETUSER', user.name, 'reset', 'on', ...user.words);
      await connection.command('ACL', 'SETUSER', ...recordRule(records));`,
      },
    ],
    scenarios: ['S7 users'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'record-forgotten-first',
    defect: 'the record forgets a user before it is removed',
    edits: [
      {
        file: 'engines/redis/act/users.ts',
        find: "    await connection.command('ACL', 'DELUSER', ...names);\n",
        replace: '',
      },
      {
        file: 'engines/redis/act/users.ts',
        find: "      : connection.command('ACL', 'SETUSER', ...recordRule(staying)));",
        replace:
          "      : connection.command('ACL', 'SETUSER', ...recordRule(staying)));\n    await connection.command('ACL', 'DELUSER', ...names);",
      },
    ],
    scenarios: ['S7 users'],
    classes: ['F1'],
    oracle: 'O1',
  },
  {
    id: 'former-user-kept',
    defect: 'a user that the spec does not name any more stays',
    edits: [
      {
        file: 'engines/redis/plan/users.ts',
        find: '...(former.length === 0 ? [] : [removal])',
        replace: '...(former.length < 99 ? [] : [removal])',
      },
    ],
    scenarios: ['S7 users'],
    classes: ['F1'],
    oracle: 'O1',
  },
];
