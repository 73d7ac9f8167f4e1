/** For the reference page of RedisCluster: what the table of directives knows besides their types. */

import type { ReferenceOptions } from '../../../api/reference.ts';
import { type Directive, redisDirectives } from './directives.ts';

const directives: Readonly<Record<string, Directive>> = redisDirectives;

export const redisReferenceOptions: ReferenceOptions = {
  note(path) {
    const name = /^spec\.config\.(.+)$/.exec(path)?.[1];
    const directive = name === undefined ? undefined : directives[name];
    if (directive === undefined) return undefined;
    const applied = directive.apply === 'dynamic' ? 'Applied without a restart.' : 'The pods restart one at a time.';
    return directive.since === undefined ? applied : `${applied} Needs version ${directive.since}.`;
  },
};
