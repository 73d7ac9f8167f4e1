/** The way back from 3.6 to 3.5, as far as members of one version can walk it; and what a member of 3.5 says of a downgrade. */
import { add, type Conversation, field, form, joining, ready, reason, settle, verdict } from './conversation.ts';
import type { Stage } from './stage.ts';

const ask = async (stage: Stage, action: string, version?: string): Promise<string> =>
  verdict(await stage.ask('n1', 'maintenance/downgrade', { action, ...(version === undefined ? {} : { version }) }));

/** Resolves when the cluster has a version, and would go back from it to that one. */
const mayGoBackTo = (stage: Stage, version: string): Promise<void> =>
  stage.until('it has a version', async () => (await ask(stage, 'VALIDATE', version)) === 'done');

/** Resolves when the cluster has taken the version that it may go back to: asked for the one before, it says why not. */
const lowered = (stage: Stage): Promise<void> =>
  stage.until('the version goes down', async () => /in progress/.test(await ask(stage, 'VALIDATE', '3.4.0')));

/** Whether a downgrade is under way, where it leads, and of which version the data are. */
async function told(stage: Stage): Promise<readonly unknown[]> {
  const status = await stage.ask('n1', 'maintenance/status');
  const info = (field(status, 'downgradeInfo') ?? {}) as {
    readonly enabled?: boolean;
    readonly targetVersion?: string;
  };
  return [info.enabled === true, info.targetVersion, field(status, 'storageVersion')];
}

const hasDataOf = (stage: Stage, version: string): Promise<void> =>
  stage.until(`the data are of ${version}`, async () => (await told(stage))[2] === version);

export const downgradeConversations: readonly Conversation[] = [
  {
    story: 'a downgrade is allowed once, and taken back as often as anybody likes',
    only: '3.6',
    async play(stage) {
      await form(stage, 'n1');
      await mayGoBackTo(stage, '3.5.0');
      const none = await ask(stage, 'CANCEL');
      const allowed = await ask(stage, 'ENABLE', '3.5.0');
      // Refused as the second one, or, a few seconds later, since the version has gone down.
      const again = (await ask(stage, 'ENABLE', '3.5.0')) !== 'done';
      const cancelled = [await ask(stage, 'CANCEL'), await ask(stage, 'CANCEL')];
      await mayGoBackTo(stage, '3.5.0');
      return [none, allowed, again, cancelled];
    },
    yields: ['done', 'done', true, ['done', 'done']],
  },
  {
    story: '3.5 does what it is told of a downgrade, and never says so',
    only: '3.5',
    async play(stage) {
      await form(stage, 'n1');
      await mayGoBackTo(stage, '3.4.0');
      const none = await ask(stage, 'CANCEL');
      const allowed = await ask(stage, 'ENABLE', '3.4.0');
      const underWay = await ask(stage, 'VALIDATE', '3.4.0');
      const cancelled = [await ask(stage, 'CANCEL'), await ask(stage, 'CANCEL')];
      return [none, allowed, underWay, cancelled, await ask(stage, 'VALIDATE', '3.4.0')];
    },
    yields: [
      '9 etcdserver: no inflight downgrade job',
      '14 etcdserver: request timed out',
      '9 etcdserver: cluster has a downgrade job in progress',
      ['14 etcdserver: request timed out', '9 etcdserver: no inflight downgrade job'],
      'done',
    ],
  },
  {
    story: 'while a downgrade is allowed, a member brings its data into the older form, and afterwards back',
    only: '3.6',
    async play(stage) {
      await form(stage, 'n1');
      await hasDataOf(stage, '3.6.0');
      const allowed = await ask(stage, 'ENABLE', '3.5.0');
      await hasDataOf(stage, '3.5.0');
      const during = [await told(stage), await ask(stage, 'VALIDATE', '3.5.0'), await ask(stage, 'VALIDATE', '3.4.0')];
      await ask(stage, 'CANCEL');
      await hasDataOf(stage, '3.6.0');
      return [allowed, during, (await told(stage))[0]];
    },
    yields: [
      'done',
      [
        [true, '3.5.0', '3.5.0'],
        '3 etcdserver: invalid downgrade target version',
        '9 etcdserver: cluster has a downgrade job in progress',
      ],
      false,
    ],
  },
  {
    story: 'while a downgrade is allowed nobody joins',
    only: '3.6',
    async play(stage) {
      await form(stage, 'n1');
      await settle(stage);
      await ask(stage, 'ENABLE', '3.5.0');
      await lowered(stage);
      const added = await add(stage, 'n1', 'n2');
      await stage.start('n2', joining('n1', 'n2'));
      const { code, words } = await stage.ended('n2');
      return [added, code !== 0, reason(words, 'incompatible with current running cluster')];
    },
    yields: ['done', true, 'incompatible with current running cluster'],
  },
  {
    story: 'who is killed while a downgrade is allowed comes back with the version that it had',
    only: '3.6',
    async play(stage) {
      await form(stage, 'n1');
      await mayGoBackTo(stage, '3.5.0');
      await ask(stage, 'ENABLE', '3.5.0');
      await hasDataOf(stage, '3.5.0');
      await stage.kill('n1');
      await stage.start('n1', joining('n1'));
      await ready(stage, 'n1');
      return await told(stage);
    },
    yields: [true, '3.5.0', '3.5.0'],
  },
];
