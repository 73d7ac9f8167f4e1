/** Somebody adds an ACL user to the spec, gives another one other rules, and takes out a third one, and one that was there for seconds. */
import { secret } from './furniture.ts';
import type { Scenario, Spec } from './scenario.ts';

const user = (name: string, ...rules: readonly string[]) => ({ name, secretRef: { name: `user-${name}` }, rules });
const changing = user('app', '~app:*', '+get', '+set');
const changed = user('app', '~app:*', '+get', '(+set ~app:b:*)');
const leaving = user('former', '~*', '+@all', '-@admin');
const coming = user('fresh', '~fresh:*', '+get');
const brief = user('brief', '+ping');

/** For all nodes to be told, where nothing goes wrong. */
const betweenMs = 12_000;
/** The same, and before an operator that has died is replaced. */
const brieflyMs = 3_000;

export function otherUsers(before: Spec): Omit<Scenario, 'engine'> {
  return {
    id: 'S7 users',
    title: 'ACL users: one is added, the rules of another change, two are removed, one of them just after it was added',
    before: { ...before, users: [changing, leaving] },
    furniture: ['app', 'former', 'fresh', 'brief'].map((name) =>
      secret(`user-${name}`, { password: `word of ${name} for O11` }),
    ),
    async act(stage) {
      await stage.change({ users: [changing, leaving, coming] });
      await stage.pause(betweenMs);
      await stage.change({ users: [changed, leaving, coming] });
      await stage.pause(betweenMs);
      await stage.change({ users: [changed, leaving, coming, brief] });
      await stage.pause(brieflyMs);
      await stage.change({ users: [changed, coming] });
    },
    end: 'whole',
    writes: 48,
    written: true,
  };
}
