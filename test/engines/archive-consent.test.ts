/** An archive runs as a ServiceAccount, and mounts a claim, only where these are meant for backups. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { Assessment, Judgement } from '../../src/engine/engine.ts';
import type { ClaimUse, EngineContext } from '../../src/engine/engine-context.ts';
import { postgres } from '../../src/engines/postgres/index.ts';
import { forBackupsAnnotation } from '../../src/jobs/for-backups.ts';
import { defineEngine } from '../../src/jobs/handlers.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { archiveComponent, componentLabel } from '../../src/resources/metadata.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { runningChildren } from '../../src/testing/running-children.ts';
import { postgresCluster, postgresWorld, type Story as WorldStory } from '../support/postgres-situation.ts';
import { postgresSecrets, scriptedPatroni } from '../support/scripted-patroni.ts';

const handler = defineEngine(postgres).handler('agent:1');
const endpoint = 'https://s3.eu-central-1.amazonaws.com';
const s3 = { endpoint, region: 'eu-central-1', bucket: 'backups', serviceAccountName: 'deployer' };
const elsewhere = {
  ...s3,
  webIdentity: { audience: 'https://kubernetes.default.svc', endpoint: 'https://mine.example' },
};

const object = (kind: string, name: string, annotations: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'apps', uid: `uid-${name}`, annotations },
});
const meant = { [forBackupsAnnotation]: 'true' };
const podOn = (claim: string, name = 'app'): KubeObject => ({
  ...object('Pod', name),
  spec: {
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: claim } }],
    containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
  },
});

interface Story {
  readonly target: object;
  readonly account?: KubeObject;
  readonly claim?: ClaimUse;
  /** What an archive that runs was made with. */
  readonly runs?: object;
  readonly members?: NonNullable<WorldStory['members']>;
}

/** What becomes of the archive's objects, and what the status says of it. */
async function assessed(story: Story): Promise<string[]> {
  return toldBy(await assessment(story));
}

function toldBy({ plan, status }: Judgement): string[] {
  const archive = (status as { readonly archive?: { readonly message?: string } }).archive;
  const steps = plan.steps.map(describeStep).filter((step) => step.includes('db-archive'));
  return [...steps, archive?.message ?? ''].filter((line) => line !== '');
}

async function assessment({ target, account, claim, runs, members = {} }: Story): Promise<Assessment> {
  const spec = { backup: { target, archive: {} } };
  const at = Date.now();
  const { cluster, children, observed } = postgresWorld({ spec, members, observed: { at } });
  const { io } = scriptedPatroni(observed, postgresSecrets(postgresCluster(spec), at));
  const asked: EngineContext = {
    ...io,
    serviceAccount: () => Promise.resolve(account),
    claim: () => Promise.resolve(claim),
  };
  const made =
    runs === undefined
      ? []
      : handler.resources(postgresWorld({ spec: { backup: { target: runs, archive: {} } } }).cluster);
  const own = made.filter((each) => each.object.metadata.labels?.[componentLabel] === archiveComponent);
  const there = childrenOf([...children.objects, ...runningChildren(own).objects]);
  return handler.assess(cluster, there, asked);
}

const made = [/create ConfigMap db-archive-task/, /create StatefulSet db-archive/, /its pod is not there/];
const refused = (why: RegExp) => [why];

it.each<[string, Story, readonly RegExp[]]>([
  [
    'is made as a ServiceAccount that is meant for it',
    { target: { s3 }, account: object('ServiceAccount', 'deployer', meant) },
    made,
  ],
  [
    'is not made as one that has not said so',
    { target: { s3 }, account: object('ServiceAccount', 'deployer') },
    refused(/ServiceAccount deployer does not say that backups may run as it/),
  ],
  ['waits for one that is not there', { target: { s3 } }, refused(/there is no ServiceAccount deployer/)],
  [
    'sends no token elsewhere',
    { target: { s3: elsewhere }, account: object('ServiceAccount', 'deployer', meant) },
    refused(/and not to https:\/\/mine\.example/),
  ],
  [
    'ends where the ServiceAccount withdraws its word',
    { target: { s3 }, account: object('ServiceAccount', 'deployer'), runs: { s3 } },
    [/delete StatefulSet db-archive/, /ServiceAccount deployer does not say/],
  ],
  [
    'goes on where nothing was withdrawn',
    { target: { s3 }, account: object('ServiceAccount', 'deployer', meant), runs: { s3 } },
    [/its pod/],
  ],
  [
    'mounts a claim for backups',
    { target: { claim: { name: 'b' } }, claim: { claim: object('PersistentVolumeClaim', 'b'), pods: [], sets: [] } },
    made,
  ],
  [
    'mounts none that another pod writes to',
    {
      target: { claim: { name: 'b' } },
      claim: { claim: object('PersistentVolumeClaim', 'b'), pods: [podOn('b')], sets: [] },
    },
    refused(/PersistentVolumeClaim b is mounted by Pod app/),
  ],
  [
    'waits for a claim that is not there',
    { target: { claim: { name: 'b' } } },
    refused(/there is no PersistentVolumeClaim b/),
  ],
  [
    'stays as it is where another target is refused',
    {
      target: { claim: { name: 'b' } },
      claim: { claim: object('PersistentVolumeClaim', 'b'), pods: [podOn('b')], sets: [] },
      account: object('ServiceAccount', 'deployer', meant),
      runs: { s3 },
    },
    refused(/PersistentVolumeClaim b is mounted by Pod app/),
  ],
  [
    'is changed though it writes to its claim itself',
    {
      target: { claim: { name: 'b' } },
      claim: { claim: object('PersistentVolumeClaim', 'b'), pods: [podOn('b', 'db-archive-0')], sets: [] },
      runs: { claim: { name: 'a' } },
    },
    [/update StatefulSet db-archive/, /its pod/],
  ],
])('an archive %s', async (_, story, expected) => {
  const found = await assessed(story);
  expect(found, found.join('\n')).toHaveLength(expected.length);
  for (const [index, pattern] of expected.entries()) expect(found[index]).toMatch(pattern);
});

it('the ServiceAccount of an archive is in both of its fields, as the API server has it, so that dropping it takes effect', () => {
  const templateOf = (target: object) => {
    const { cluster } = postgresWorld({ spec: { backup: { target, archive: {} } } });
    const [set] = handler
      .resources(cluster)
      .flatMap(({ object: each }) =>
        each.metadata.name === 'db-archive' ? (each.spec as { readonly template: { readonly spec: object } }) : [],
      );
    return set?.template.spec ?? {};
  };
  expect(templateOf({ s3 })).toMatchObject({ serviceAccountName: 'deployer', serviceAccount: 'deployer' });
  const { serviceAccountName: _, ...withCredentials } = s3;
  const other = Object.keys(templateOf({ s3: { ...withCredentials, credentials: 's3' } }));
  expect(other.filter((field) => field.startsWith('serviceAccount'))).toEqual([]);
});

it('is made and judged alike while a restart waits for its window', async () => {
  const account = object('ServiceAccount', 'deployer', meant);
  const { otherwise, ...now } = await assessment({ target: { s3 }, account, members: { 1: { restartPending: true } } });
  if (otherwise === undefined) throw new Error('the restart does not wait');
  expect(toldBy(otherwise)).toEqual(toldBy(now));
  expect(toldBy(otherwise)).toEqual(made.map((line) => expect.stringMatching(line)));
});
