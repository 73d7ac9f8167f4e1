/** All of them, those that wait for seconds first. */
import type { Conversation } from './conversation.ts';
import { corruptionConversations } from './corruption-conversations.ts';
import { downgradeConversations } from './downgrade-conversations.ts';
import { failureConversations } from './failure-conversations.ts';
import { membershipConversations } from './membership-conversations.ts';
import { serviceConversations } from './service-conversations.ts';
import type { Stage } from './stage.ts';

const conversations: readonly Conversation[] = [
  ...failureConversations,
  ...corruptionConversations,
  ...downgradeConversations,
  ...membershipConversations,
  ...serviceConversations,
];

export function conversationsOf(version: string): readonly Conversation[] {
  return conversations.filter(({ only }) => only === undefined || version.startsWith(only));
}

export async function play(conversation: Conversation, stage: Stage): Promise<unknown> {
  try {
    return await conversation.play(stage);
  } finally {
    await stage.close();
  }
}
