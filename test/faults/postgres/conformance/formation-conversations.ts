/** How a database comes to be, and what its members say of themselves once it is there. */

import { serverQuestion } from '../../../../src/engines/postgres/client/questions/server.ts';
import { blankExitCode } from '../../../../src/engines/postgres/plan/failed-member.ts';
import {
  type Conversation,
  describedAll,
  fields,
  form,
  isLeading,
  seen,
  sync,
  waitsFor,
  words,
} from './conversation.ts';
import type { Stage } from './stage.ts';

/** It starts as it did before. The operator is let in by a role that is made last. */
async function formedAgain(stage: Stage): Promise<readonly unknown[]> {
  await stage.start(0, 'form');
  await stage.until('it leads', () => isLeading(stage, 0));
  const rows = await stage.ask(0, serverQuestion);
  const isItsOwn = stage.state('config')?.initialize === (await seen(stage, 0))?.systemId;
  return [typeof rows === 'string' ? rows : rows.length, isItsOwn, await stage.write(0, 'a')];
}

const whole = [1, true, true];

export const formationConversations: readonly Conversation[] = [
  {
    story: 'one member makes the database, the others copy it, and each says so in the same fields',
    isEssential: true,
    async play(stage) {
      await form(stage, 0, 1, 2);
      const patroni = fields(await stage.call(0, 'GET', '/patroni'));
      const standby = fields(await stage.call(1, 'GET', '/patroni'));
      const listed = async (): Promise<readonly string[]> => {
        const { members = [] } = fields(await stage.call(1, 'GET', '/cluster'));
        const rows = members as readonly Record<string, unknown>[];
        return rows.map(({ name, role, state, timeline }) => `${name} ${role} ${state} ${timeline}`).sort();
      };
      // Each writes it with its next look at itself.
      await stage.until('the standbys have written that they stream', async () => {
        const streaming = (await listed()).filter((row) => row.includes(' streaming '));
        return streaming.length === 2;
      });
      const config = fields(await stage.call(2, 'GET', '/config'));
      const rows = await stage.ask(1, serverQuestion);
      return {
        members: await describedAll(stage, 0, 1, 2),
        fields: [Object.keys(patroni).sort(), Object.keys(standby).sort()],
        positions: [Object.keys(patroni.xlog as object), Object.keys(standby.xlog as object)],
        cluster: await listed(),
        config: [config.ttl, config.synchronous_mode, config.failsafe_mode],
        history: words(await stage.call(0, 'GET', '/history')),
        isSameDatabase: stage.state('config')?.initialize === patroni.database_system_identifier,
        sync: sync(stage),
        waits: await waitsFor(stage, 0),
        standby: typeof rows === 'string' ? rows : rows.map(({ inRecovery, pending }) => [inRecovery, pending]),
        written: [await stage.write(0, 'a'), await stage.write(1, 'b'), await stage.keys(0)],
      };
    },
    yields: {
      members: [
        'primary, timeline 1, of db-1-0 db-2-0, labelled primary',
        'replica, timeline 1, streaming, synchronous, labelled replica',
        'replica, timeline 1, streaming, synchronous, labelled replica',
      ],
      fields: [
        [
          'database_system_identifier',
          'dcs_last_seen',
          'patroni',
          'postmaster_start_time',
          'replication',
          'role',
          'server_version',
          'state',
          'timeline',
          'xlog',
        ],
        [
          'database_system_identifier',
          'dcs_last_seen',
          'patroni',
          'postmaster_start_time',
          'quorum_standby',
          'replication_state',
          'role',
          'server_version',
          'state',
          'timeline',
          'xlog',
        ],
      ],
      positions: [['location'], ['received_location', 'replayed_location', 'replayed_timestamp', 'paused']],
      cluster: ['db-0-0 leader running 1', 'db-1-0 quorum_standby streaming 1', 'db-2-0 quorum_standby streaming 1'],
      config: [20, 'quorum', true],
      history: '200 []',
      isSameDatabase: true,
      sync: 'db-0-0: 1 of db-1-0 db-2-0',
      waits: 'ANY 1 (db-1-0,db-2-0)',
      standby: [[true, 0]],
      written: [true, false, ['a']],
    },
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
    yields: [
      [['primary, timeline 1, labelled primary'], 'db-0-0: 0 of ', '', true],
      ['primary, timeline 2, labelled primary'],
      ['a'],
    ],
  },
  {
    story: 'a member that is killed when it has begun to make the database makes it when it starts again',
    isEssential: true,
    spec: { instances: 1 },
    async play(stage) {
      await stage.start(0, 'form');
      await stage.until('it has begun', () => stage.state('config')?.initialize === '');
      // A Patroni that gets SIGTERM during its bootstrap may never exit. The kubelet then kills it after the grace period.
      await stage.kill(0);
      const left = stage.state('config')?.initialize;
      return [left, ...(await formedAgain(stage))];
    },
    yields: ['', ...whole],
  },
  {
    story: 'a member that is killed before the database has its roles makes another one',
    isEssential: true,
    spec: { instances: 1 },
    async play(stage) {
      await stage.start(0, 'form');
      await stage.until('its server runs', async () => {
        const found = await seen(stage, 0);
        return found?.role === 'primary' && found.postgres === 'running';
      });
      await stage.kill(0);
      const left = stage.state('config')?.initialize;
      const found = await formedAgain(stage);
      // Who looks late comes when the database is finished: then it is the same one.
      return [left === '' || left === stage.state('config')?.initialize, ...found];
    },
    yields: [true, ...whole],
  },
  {
    story: 'a member that has had data does not start on a blank volume',
    isEssential: true,
    async play(stage) {
      await stage.start(0, 'resume');
      const { code, words: last } = await stage.ended(0);
      return [code === blankExitCode, last.trim()];
    },
    yields: [true, 'the volume is blank, and this member has had data'],
  },
  {
    story: 'without a member that may make a database nobody makes one',
    async play(stage) {
      await stage.start(0, 'join');
      await stage.start(1, 'join');
      await stage.pause(15_000);
      return [await describedAll(stage, 0, 1), stage.state('config')?.initialize, stage.state('leader')?.leader];
    },
    yields: [
      [
        'stopped, no role, timeline undefined, unlocked, no label',
        'stopped, no role, timeline undefined, unlocked, no label',
      ],
      undefined,
      undefined,
    ],
  },
];
