/** In which databases the operator looks for indexes that an upgrade has left invalid, and what it makes of the answers. */
import { expect, it } from 'vitest';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { observeServer } from '../../../src/engines/postgres/observe/server.ts';
import { sleep, systemClock } from '../../../src/system/clock.ts';
import { refusal, table } from '../../support/postgres-messages.ts';
import { postgresWorld } from '../../support/postgres-situation.ts';
import { postgresSecrets, scriptedPatroni } from '../../support/scripted-patroni.ts';
import { answerAs, tlsPostgres } from '../../support/tls-postgres.ts';

const world = postgresWorld();
const secrets = postgresSecrets(world.cluster, Date.now());

async function seen(number: number, marked: readonly string[], invalid: string | 'refused' | null) {
  const [member] = world.observed.members.slice(number);
  if (member?.state !== 'answering') throw new Error('it answers');
  const facts = answerAs(member);
  const { said, connect } = tlsPostgres(secrets, (statement) => {
    if (statement.includes('pg_db_role_setting'))
      return table(
        marked.slice(0, 5).map((name) => ({ name, all: String(marked.length) })),
        ['name', 'all'],
      );
    if (!statement.includes('AS invalid')) return facts(statement);
    return invalid === 'refused' ? refusal('42501', 'permission denied') : table([{ invalid }]);
  });
  const { io } = scriptedPatroni(world.observed, secrets, undefined, () => connect());
  const real: EngineContext = { ...io, sleep: (ms, signal) => sleep(systemClock, ms, signal) };
  const found = await observeServer(world.cluster, member.address, real);
  return {
    indexes: found.state === 'seen' ? found.indexes : found,
    asked: said.filter((one) => one.includes('AS invalid')).length,
  };
}

it.each<readonly [string, Parameters<typeof seen>, Awaited<ReturnType<typeof seen>>]>([
  ['nowhere without a mark', [0, [], 'public.t_pkey'], { indexes: undefined, asked: 0 }],
  ['not on a standby', [1, ['app'], 'public.t_pkey'], { indexes: undefined, asked: 0 }],
  [
    'in each that is marked',
    [0, ['app', 'Shop'], 'public.t_pkey'],
    { indexes: { invalid: 'public.t_pkey of database app; public.t_pkey of database Shop' }, asked: 2 },
  ],
  [
    'in no more than five of them, and says of the others that they are marked',
    [0, ['a', 'b', 'c', 'd', 'e', 'f'], null],
    {
      indexes: { unseen: '1 more databases with the setting clusterwright.invalid_indexes' },
      asked: 5,
    },
  ],
  ['and finds none once they are rebuilt', [0, ['app'], null], { indexes: undefined, asked: 1 }],
  [
    'and says where it may not look',
    [0, ['app'], 'refused'],
    { indexes: { unseen: 'database app (permission denied)' }, asked: 1 },
  ],
])('%s', async (_, story, expected) => expect(await seen(...story)).toEqual(expected));
