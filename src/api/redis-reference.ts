/** The reference page of RedisCluster, with what the table of directives knows besides their types. */
import { redisKind } from './redis.ts';
import { type Directive, redisDirectives } from './redis-directives.ts';
import { referencePage } from './reference.ts';

const directives: Readonly<Record<string, Directive>> = redisDirectives;

export const redisReference: string = referencePage(redisKind, {
  note(path) {
    const name = /^spec\.config\.(.+)$/.exec(path)?.[1];
    const directive = name === undefined ? undefined : directives[name];
    if (directive === undefined) return undefined;
    const applied = directive.apply === 'dynamic' ? 'Applied at once.' : 'Applied by restarting pods one by one.';
    return directive.since === undefined ? applied : `${applied} Needs version ${directive.since}.`;
  },
});
