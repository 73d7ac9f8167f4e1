/** For the reference page of RedisCluster: what the table of directives knows besides their types. */

import type { ReferenceOptions } from '../../../api/reference.ts';
import { type Directive, type Range, redisDirectives } from './directives.ts';
import { serverEngines } from './server.ts';

const directives: Readonly<Record<string, Directive>> = redisDirectives;

export const redisReferenceOptions: ReferenceOptions = {
  note(path) {
    const name = /^spec\.config\.(.+)$/.exec(path)?.[1];
    const directive = name === undefined ? undefined : directives[name];
    if (directive === undefined) return undefined;
    const applied = directive.apply === 'dynamic' ? 'Applied without a restart.' : 'The pods restart one at a time.';
    return [applied, ...limitsOf(directive)].join(' ');
  },
};

function limitsOf(directive: Directive): readonly string[] {
  const ranges = serverEngines.flatMap((engine): (readonly [string, Range])[] => {
    const range = directive.in?.[engine];
    return range === undefined ? [] : [[engine, range]];
  });
  const modes = directive.mode === undefined ? [] : [`Only in mode ${directive.mode}.`];
  return [
    ...modes,
    ...ranges.map(([engine, range]) => {
      if (range === 'none') return `Not in ${engine}.`;
      if (range.before !== undefined) return `Not in ${engine} ${range.before} or later.`;
      return `With ${engine}, needs version ${range.since}.`;
    }),
  ];
}
