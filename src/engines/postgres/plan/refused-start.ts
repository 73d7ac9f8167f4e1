/**
 * Settings with which PostgreSQL does not start, while nobody is primary: a library that the image does not have, more memory than there is.
 * What a person corrects in the spec has to reach Patroni all the same, or nobody would ever start again.
 *
 * Only settings of PostgreSQL are passed on. Who may be elected is Patroni's to decide with the configuration that it had: with
 * `synchronous_mode` off, it would promote a member that lacks acknowledged commits.
 */
import type { ActStep } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import { configSetting } from '../names.ts';
import type { Situation } from '../observe/situation.ts';
import { asked } from './restart.ts';
import { parametersPatch } from './shared-config.ts';

/** In Patroni's words. */
const isDown: readonly string[] = ['start failed', 'crashed', 'stopped'];
/** A running server may have more of them than the spec leaves room for: see `prepared.ts`. */
const prepared = 'max_prepared_transactions';

/** None where PostgreSQL of everybody who answers runs, or is on its way. */
export function correctedSettings(situation: Situation): ActStep<PostgresAction>[] {
  const { live, primary, roster } = situation;
  const members = [...live].flatMap(([index, member]) => (roster.has(index) ? [member] : []));
  const down = members.find(({ postgres }) => isDown.includes(postgres));
  if (primary !== undefined || down === undefined) return [];
  const runs = members.some(({ postgres }) => postgres === 'running');
  const changed = Object.entries(parametersPatch(situation) ?? {}).filter(
    // It is about all of the configuration, of which this is a part.
    ([name]) => name !== configSetting && !(runs && name === prepared),
  );
  if (changed.length === 0) return [];
  const names = changed.map(([name]) => name).join(', ');
  return [
    {
      type: 'act',
      action: {
        type: 'postgres.configure',
        via: asked(down),
        patch: { postgresql: { parameters: Object.fromEntries(changed) } },
      },
      summary: `change settings of PostgreSQL (${names}), with which it may start`,
    },
  ];
}
