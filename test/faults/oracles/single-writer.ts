/** O10: a process that has lost its lease, or stood still for longer than that, writes nothing any more. */
import type { Oracle } from '../record.ts';
import { isNumbered } from '../wire/request.ts';

export const singleWriter: Oracle = {
  id: 'O10',
  promise: 'at most one process writes at any time',
  check({ entries }) {
    const found: string[] = [];
    let writer = 0;
    for (const { life, verb, what, request } of entries) {
      const writes = verb === 'command' || (request !== undefined && isNumbered(request));
      if (!writes) continue;
      if (life < writer) found.push(`process ${life} sends ${verb} ${what} after process ${writer} has begun to write`);
      writer = Math.max(writer, life);
    }
    return found.slice(0, 3);
  },
};
