/** How settings get to the servers, and what takes a restart. */
import { serverQuestion, settingsQuestion } from '../../../../src/engines/postgres/client/questions/server.ts';
import { configSetting } from '../../../../src/engines/postgres/names.ts';
import {
  type Conversation,
  describedAll,
  fields,
  form,
  isLeading,
  isStreaming,
  seen,
  settled,
  words,
} from './conversation.ts';
import type { Stage } from './stage.ts';

const set = (stage: Stage, member: number, parameters: object) =>
  stage.call(member, 'PATCH', '/config', { postgresql: { parameters } });

async function digest(stage: Stage, member: number): Promise<string | undefined> {
  const rows = await stage.ask(member, serverQuestion);
  return typeof rows === 'string' ? rows : rows[0]?.config;
}

async function pendingBySql(stage: Stage, member: number): Promise<number | string | undefined> {
  const rows = await stage.ask(member, serverQuestion);
  return typeof rows === 'string' ? rows : rows[0]?.pending;
}

const restart = (stage: Stage, member: number) => stage.call(member, 'POST', '/restart', { restart_pending: true });

export const settingsConversations: readonly Conversation[] = [
  {
    story: 'what counts once it is read is in force on every member a moment after it is told to one',
    async play(stage) {
      await form(stage, 0, 1, 2);
      const setting = 'log_min_duration_statement';
      const read = async (member: number) => {
        const rows = await stage.ask(member, settingsQuestion([setting]));
        return typeof rows === 'string' ? rows : rows.map(({ value, isDefault }) => (isDefault ? 'default' : value));
      };
      const before = await read(1);
      const told = await set(stage, 2, { [setting]: 250, [configSetting]: 'other' });
      const answer = fields(told) as { readonly postgresql?: { readonly parameters?: Record<string, unknown> } };
      for (const member of [0, 1, 2])
        await stage.until(`${member} has read it`, async () => (await digest(stage, member)) === 'other');
      const after = [await read(0), await read(1)];
      const gone = await set(stage, 0, { [setting]: null, [configSetting]: 'third' });
      for (const member of [0, 1, 2])
        await stage.until(`${member} has read it`, async () => (await digest(stage, member)) === 'third');
      return {
        before,
        told: [words(told).slice(0, 3), answer.postgresql?.parameters?.[setting]],
        after,
        gone: words(gone).slice(0, 3),
        end: await read(1),
        reload: words(await stage.call(1, 'POST', '/reload', {})),
        members: await describedAll(stage, 0, 1, 2),
      };
    },
    yields: {
      before: ['default'],
      told: ['200', 250],
      after: [['250'], ['250']],
      gone: '200',
      end: ['default'],
      reload: '202 reload scheduled',
      members: [
        'primary, timeline 1, of db-1-0 db-2-0, labelled primary',
        'replica, timeline 1, streaming, synchronous, labelled replica',
        'replica, timeline 1, streaming, synchronous, labelled replica',
      ],
    },
  },
  {
    story: 'a pause is told by every member, and its end',
    async play(stage) {
      await form(stage, 0, 1, 2);
      const isPaused = async (member: number): Promise<boolean> => (await seen(stage, member))?.isPaused === true;
      const told = words(await stage.call(1, 'PATCH', '/config', { pause: true })).slice(0, 3);
      for (const member of [0, 1, 2]) await stage.until(`${member} is paused`, () => isPaused(member));
      const during = await describedAll(stage, 0, 1, 2);
      await stage.call(1, 'PATCH', '/config', { pause: null });
      for (const member of [0, 1, 2]) await stage.until(`${member} goes on`, async () => !(await isPaused(member)));
      return { told, during, after: await describedAll(stage, 0, 1, 2) };
    },
    yields: {
      told: '200',
      during: [
        'primary, timeline 1, of db-1-0 db-2-0, paused, labelled primary',
        'replica, timeline 1, streaming, synchronous, paused, labelled replica',
        'replica, timeline 1, streaming, synchronous, paused, labelled replica',
      ],
      after: [
        'primary, timeline 1, of db-1-0 db-2-0, labelled primary',
        'replica, timeline 1, streaming, synchronous, labelled replica',
        'replica, timeline 1, streaming, synchronous, labelled replica',
      ],
    },
  },
  {
    story: 'what counts from a start on is pending until each one has been restarted, and nothing else is restarted',
    isEssential: true,
    async play(stage) {
      await form(stage, 0, 1, 2);
      const early = words(await restart(stage, 1));
      await set(stage, 0, { max_connections: 120, shared_buffers: '64MB' });
      for (const member of [0, 1, 2])
        await stage.until(`${member} is pending`, async () => (await seen(stage, member))?.restartPending === true);
      const reasons = fields(await stage.call(1, 'GET', '/patroni')).pending_restart_reason as Record<string, object>;
      const pending = [
        await describedAll(stage, 0, 1, 2),
        [await pendingBySql(stage, 0), await pendingBySql(stage, 1)],
        Object.keys(reasons).sort(),
        reasons.max_connections,
      ];
      const restarts: string[] = [];
      for (const member of [1, 2, 0]) {
        restarts.push(words(await restart(stage, member)));
        await stage.until(`${member} is back`, async () =>
          member === 0 ? await isLeading(stage, 0) : await isStreaming(stage, member),
        );
      }
      for (const member of [0, 1, 2])
        await stage.until(
          `${member} is not pending`,
          async () => (await seen(stage, member))?.restartPending === false,
        );
      await settled(stage, 0, 1, 2);
      return { early, pending, restarts, after: await describedAll(stage, 0, 1, 2), sql: await pendingBySql(stage, 1) };
    },
    yields: {
      early: '503 restart conditions are not satisfied',
      pending: [
        [
          'primary, timeline 1, of db-1-0 db-2-0, restart pending, labelled primary',
          'replica, timeline 1, streaming, synchronous, restart pending, labelled replica',
          'replica, timeline 1, streaming, synchronous, restart pending, labelled replica',
        ],
        [2, 2],
        ['max_connections', 'shared_buffers'],
        { old_value: '100', new_value: '120' },
      ],
      restarts: ['200 restarted successfully', '200 restarted successfully', '200 restarted successfully'],
      after: [
        'primary, timeline 1, of db-1-0 db-2-0, labelled primary',
        'replica, timeline 1, streaming, synchronous, labelled replica',
        'replica, timeline 1, streaming, synchronous, labelled replica',
      ],
      sql: 0,
    },
  },
  {
    story: 'a standby keeps what its primary has more of, so the primary is restarted first',
    async play(stage) {
      await form(stage, 0, 1);
      await set(stage, 0, { max_connections: 50 });
      for (const member of [0, 1])
        await stage.until(`${member} is pending`, async () => (await seen(stage, member))?.restartPending === true);
      const pending = await describedAll(stage, 0, 1);
      const first = words(await restart(stage, 1));
      await stage.until('it streams', () => isStreaming(stage, 1));
      await settled(stage, 0, 1);
      const kept = await describedAll(stage, 0, 1);
      const restarts = [words(await restart(stage, 0))];
      await stage.until('0 is back', () => isLeading(stage, 0));
      await stage.until('1 is back', () => isStreaming(stage, 1));
      // It has to learn from the log what its primary has now.
      await stage.pause(3_000);
      restarts.push(words(await restart(stage, 1)));
      await settled(stage, 0, 1);
      await stage.until('1 is not pending', async () => (await seen(stage, 1))?.restartPending === false);
      return { pending, first, kept, restarts, after: await describedAll(stage, 0, 1) };
    },
    yields: {
      pending: [
        'primary, timeline 1, of db-1-0, restart pending, awaits primary, labelled primary',
        'replica, timeline 1, streaming, synchronous, restart pending, awaits primary, labelled replica',
      ],
      first: '200 restarted successfully',
      kept: [
        'primary, timeline 1, of db-1-0, restart pending, awaits primary, labelled primary',
        'replica, timeline 1, streaming, synchronous, restart pending, awaits primary, labelled replica',
      ],
      restarts: ['200 restarted successfully', '200 restarted successfully'],
      after: [
        'primary, timeline 1, of db-1-0, labelled primary',
        'replica, timeline 1, streaming, synchronous, labelled replica',
      ],
    },
    spec: { instances: 2 },
  },
];
