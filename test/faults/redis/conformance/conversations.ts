import type { Conversation } from './conversation.ts';
import { dataConversations } from './data-conversations.ts';
import { identityConversations } from './identity-conversations.ts';
import { passwordConversations } from './password-conversations.ts';
import { replicationConversations } from './replication-conversations.ts';
import { sentinelConversations } from './sentinel-conversations.ts';
import type { Stage } from './stage.ts';
import { userConversations } from './user-conversations.ts';

/** Those with sentinels first, since they wait for seconds. */
export const conversations: readonly Conversation[] = [
  ...identityConversations,
  ...passwordConversations,
  ...sentinelConversations,
  ...replicationConversations,
  ...dataConversations,
  ...userConversations,
];

export async function play(conversation: Conversation, stage: Stage): Promise<unknown> {
  try {
    return await conversation.play(stage);
  } finally {
    await stage.close();
  }
}
