/** How a database comes to be, and what its members say of themselves once it is there. */
import { blankExitCode } from '../../../../src/engines/postgres/plan/failed-member.ts';
import { serverQuestion } from '../../../../src/engines/postgres/client/questions/server.ts';
import { type Conversation, describedAll, fields, form, isLeading, sync, waitsFor, words } from './conversation.ts';

export const formationConversations: readonly Conversation[] = [
  {
    story: 'one member makes the database, the others copy it, and each says so in the same fields',
    async play(stage) {
      await form(stage, 0, 1, 2);
      const patroni = fields(await stage.call(0, 'GET', '/patroni'));
      const standby = fields(await stage.call(1, 'GET', '/patroni'));
      const cluster = fields(await stage.call(1, 'GET', '/cluster'));
      const config = fields(await stage.call(2, 'GET', '/config'));
      const members = (cluster.members ?? []) as readonly Record<string, unknown>[];
      const rows = await stage.ask(1, serverQuestion);
      return {
        members: await describedAll(stage, 0, 1, 2),
        fields: [Object.keys(patroni).sort(), Object.keys(standby).sort()],
        positions: [Object.keys(patroni.xlog as object), Object.keys(standby.xlog as object)],
        cluster: members.map(({ name, role, state, timeline }) => `${name} ${role} ${state} ${timeline}`).sort(),
        config: [config.ttl, config.synchronous_mode, config.failsafe_mode],
        history: words(await stage.call(0, 'GET', '/history')),
        isSameDatabase: stage.state('config')?.initialize === patroni.database_system_identifier,
        sync: sync(stage),
        waits: await waitsFor(stage, 0),
        standby: typeof rows === 'string' ? rows : rows.map(({ inRecovery, pending }) => [inRecovery, pending]),
        written: [await stage.write(0, 'a'), await stage.write(1, 'b'), await stage.keys(0)],
      };
    },
    yields: {},
  },
  {
    story: 'a single member leads alone, and no commit waits',
    spec: { instances: 1 },
    async play(stage) {
      await stage.start(0, 'form');
      await stage.until('it leads', () => isLeading(stage, 0));
      await stage.until('it has said who may be elected', () => stage.state('sync')?.leader !== undefined);
      const before = [await describedAll(stage, 0), sync(stage), await waitsFor(stage, 0), await stage.write(0, 'a')];
      await stage.kill(0);
      await stage.start(0, 'resume');
      await stage.until('it leads again', () => isLeading(stage, 0));
      return [before, await describedAll(stage, 0), await stage.keys(0)];
    },
    yields: [],
  },
  {
    story: 'a member that has had data does not start on a blank volume',
    async play(stage) {
      await stage.start(0, 'resume');
      const { code, words: last } = await stage.ended(0);
      return [code === blankExitCode, last.trim()];
    },
    yields: [],
  },
  {
    story: 'without a member that may make a database nobody makes one',
    async play(stage) {
      await stage.start(0, 'join');
      await stage.start(1, 'join');
      await stage.pause(15_000);
      return [await describedAll(stage, 0, 1), stage.state('config')?.initialize, stage.state('leader')?.leader];
    },
    yields: [],
  },
];
