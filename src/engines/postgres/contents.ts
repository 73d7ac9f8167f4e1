/** The kinds for what is inside a PostgresCluster. */
import type { DesiredCondition } from '../../api/condition.ts';
import { contentHandler } from '../../engine/content-handler.ts';
import type { ContentKind } from '../../engine/content-kind.ts';
import type { KindHandler } from '../../engine/engine.ts';
import { actContent } from './act/content.ts';
import type { ContentAction } from './action.ts';
import { type DatabaseSpec, databaseKind } from './kind/database.ts';
import type { PostgresSpec } from './kind/schema.ts';
import { type UserSpec, userKind } from './kind/user.ts';
import { type DatabaseObserved, noDatabase, observeDatabase } from './observe/database.ts';
import { noUser, observeUser, type UserObserved } from './observe/user.ts';
import { databaseWarnings, planDatabase, planDatabaseRemoval } from './plan/database.ts';
import { planUser, planUserRemoval, userWarnings } from './plan/user.ts';
import { userName, userSecrets } from './resources/user.ts';

const warned = (messages: readonly string[]): readonly DesiredCondition[] =>
  messages.length === 0
    ? []
    : [{ type: 'SpecWarning', status: 'True', reason: 'Differs', message: messages.join('; ') }];

export const postgresDatabase: ContentKind<DatabaseSpec, PostgresSpec, DatabaseObserved, ContentAction> = {
  name: 'postgresdatabase',
  kind: databaseKind,
  reference: { sample: 'spec:\n  cluster: { name: sample }\n  name: shop\n  owner: app\n' },
  permissions: [],
  observe: observeDatabase,
  offlineObservation: noDatabase,
  resources: () => [],
  plan: planDatabase,
  planRemoval: planDatabaseRemoval,
  act: actContent,
  findings: (situation) => warned(databaseWarnings(situation)),
  ready: ({ resource: { spec } }) => `database ${spec.name} is as the spec says`,
};

export const postgresUser: ContentKind<UserSpec, PostgresSpec, UserObserved, ContentAction> = {
  name: userName,
  kind: userKind,
  reference: { sample: 'spec:\n  cluster: { name: sample }\n  name: reports\n' },
  permissions: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'delete'] }],
  observe: observeUser,
  offlineObservation: noUser,
  resources: userSecrets,
  plan: planUser,
  planRemoval: planUserRemoval,
  act: actContent,
  findings: (situation) => warned(userWarnings(situation)),
  ready: ({ resource: { spec } }) => `role ${spec.name} is as the spec says`,
};

export const postgresContents: readonly KindHandler[] = [
  contentHandler(postgresDatabase),
  contentHandler(postgresUser),
];
