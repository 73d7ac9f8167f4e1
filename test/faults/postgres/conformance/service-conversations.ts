/** What the operator does by SQL: the first database, its owner and the owner's password. */
import { applicationQuestion } from '../../../../src/engines/postgres/client/application.ts';
import { saltBytes, scramVerifier } from '../../../../src/engines/postgres/client/scram-verifier.ts';
import { type Conversation, isLeading } from './conversation.ts';
import type { Stage } from './stage.ts';

const verifier = (password: string): Promise<string> => scramVerifier(password, Buffer.alloc(saltBytes, 7));
const one = async (stage: Stage): Promise<void> => {
  await stage.start(0, 'form');
  await stage.until('it leads', () => isLeading(stage, 0));
};

export const serviceConversations: readonly Conversation[] = [
  {
    story: 'the operator makes an owner and a database once, and the owner logs in by password',
    isEssential: true,
    spec: { instances: 1 },
    async play(stage) {
      await one(stage);
      const facts = () => stage.ask(0, applicationQuestion('app', 'app'));
      const none = await facts();
      const early = await stage.logIn(0, 'app', 'app', 'first');
      const made = [
        await stage.tell(0, `CREATE ROLE "app" LOGIN PASSWORD '${await verifier('first')}'`),
        await stage.tell(0, `CREATE ROLE "app" LOGIN PASSWORD '${await verifier('first')}'`),
        await stage.logIn(0, 'app', 'app', 'first'),
        await stage.tell(0, 'GRANT "app" TO CURRENT_USER'),
        await stage.tell(0, 'CREATE DATABASE "app" OWNER "app"'),
        await stage.tell(0, 'CREATE DATABASE "app" OWNER "app"'),
        await stage.tell(0, `ALTER ROLE "nobody" PASSWORD '${await verifier('first')}'`),
      ];
      const logins = [
        await stage.logIn(0, 'app', 'app', 'first'),
        await stage.logIn(0, 'app', 'app', 'wrong'),
        await stage.logIn(0, 'nobody', 'app', 'first'),
        await stage.logIn(0, 'app', 'other', 'first'),
      ];
      const changed = await stage.tell(0, `ALTER ROLE "app" PASSWORD '${await verifier('second')}'`);
      return {
        none,
        early,
        made,
        facts: await facts(),
        logins,
        changed: [changed, await stage.logIn(0, 'app', 'app', 'first'), await stage.logIn(0, 'app', 'app', 'second')],
      };
    },
    yields: {
      none: [{ hasOwner: false, owner: undefined }],
      early: '28P01',
      made: ['done', '42710', '3D000', 'done', 'done', '42P04', '42704'],
      facts: [{ hasOwner: true, owner: 'app' }],
      logins: ['done', '28P01', '28P01', '3D000'],
      changed: ['done', '28P01', 'done'],
    },
  },
];
