/** What becomes of members that copy the primary's data when `synchronous.strict` begins to count. */
import { expect, it } from 'vitest';
import { type PlanRow, planned } from '../../support/postgres-words.ts';

/** With `strict`, members copy in another way. */
const copyMethod = expect.stringContaining('apply ConfigMap db-patroni: patroni.yml=') as string;

it.each<PlanRow>([
  [
    'has copies begin anew that would confirm the log once commits wait for anybody who does',
    {
      spec: { synchronous: { strict: true } },
      before: {},
      starts: { 1: 'join', 2: 'join' },
      members: {
        1: { postgres: 'creating replica', isStreaming: false, isSynchronous: false },
        2: { postgres: 'starting', isStreaming: false, isSynchronous: false },
      },
    },
    [copyMethod, 'delete Pod db-1-0', 'configure synchronous_mode_strict=true', 'wait MembersNotReady'],
  ],
  [
    'has a member begin anew that does not answer yet: it may have read how to copy, and has no data to lose',
    {
      spec: { synchronous: { strict: true } },
      before: {},
      starts: { 1: 'join', 2: 'join' },
      claims: { 1: 'blank' },
      members: { 1: 'silent', 2: 'silent' },
    },
    [copyMethod, 'delete Pod db-1-0', 'configure synchronous_mode_strict=true', 'wait MembersNotReady'],
  ],
  [
    'lets a copy go on that confirms nothing',
    {
      spec: { synchronous: { strict: true }, parameters: { work_mem: '8MB' } },
      before: { synchronous: { strict: true } },
      starts: { 1: 'join' },
      members: { 1: { postgres: 'creating replica', isStreaming: false, isSynchronous: false } },
    },
    ['configure postgresql.parameters.work_mem=8MB', 'wait MembersNotReady'],
  ],
])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));
