/** All of them. Model and real processes have to agree on each. */
import type { PostgresSpecInput } from '../../../../src/engines/postgres/kind/schema.ts';
import type { Conversation } from './conversation.ts';
import { electionConversations } from './election-conversations.ts';
import { formationConversations } from './formation-conversations.ts';
import { serviceConversations } from './service-conversations.ts';
import { settingsConversations } from './settings-conversations.ts';
import type { Stage } from './stage.ts';
import { stateConversations } from './state-conversations.ts';

export const conversations: readonly Conversation[] = [
  ...formationConversations,
  ...serviceConversations,
  ...settingsConversations,
  ...electionConversations,
  ...stateConversations,
];

export async function play(
  { play: talk, spec = {} }: Conversation,
  open: (spec: PostgresSpecInput) => Promise<Stage>,
): Promise<unknown> {
  const stage = await open(spec);
  try {
    return await talk(stage);
  } finally {
    await stage.close();
  }
}
