/** An import from elsewhere, as the planner sees it: what it does with each answer, and where it leaves everything alone. */
import { describe, expect, it } from 'vitest';
import {
  choiceAnnotation,
  cutOverAnnotation,
  cutOverUntilAnnotation,
  importAnnotation,
  termAnnotation,
} from '../../../src/engines/redis/names.ts';
import type { DataNode } from '../../../src/engines/redis/observe/observed.ts';
import { situationOf } from '../../../src/engines/redis/observe/situation.ts';
import type { ImportSeen, SourceFacts, SourceSeen } from '../../../src/engines/redis/observe/source.ts';
import { planRedis } from '../../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../../src/engines/redis/status.ts';
import { type PlanRow, planned } from '../../support/plan-words.ts';
import { redisWorld, type Story } from '../../support/redis-situation.ts';

const now = 1_000_000;
const facts: SourceFacts = {
  server: { engine: 'Redis', version: '7.0.15' },
  runId: 'source',
  replid: 'stream',
  modules: [],
  databases: 16,
  role: 'primary',
  isCluster: false,
  isLoading: false,
  offset: 1200,
  usedMemory: 1024,
  keys: 5,
  highestDatabase: 0,
};
const untold: ImportSeen = {
  server: { engine: 'Redis', version: '8.0.1' },
  runId: 'node',
  replid: 'own',
  modules: [],
  databases: 16,
  isTold: false,
  hasLogin: false,
  host: '127.0.0.1',
  port: 1,
  wasLinked: false,
  isSyncing: false,
};
const told: ImportSeen = {
  ...untold,
  replid: 'stream',
  isTold: true,
  hasLogin: true,
  host: 'old.example.com',
  port: 6379,
  wasLinked: true,
};

interface Scene {
  readonly imports?: Partial<ImportSeen>;
  readonly node?: Partial<DataNode>;
  readonly source?: SourceSeen;
  readonly facts?: Partial<SourceFacts>;
  readonly claim?: Readonly<Record<string, string>>;
  readonly request?: string;
  readonly more?: Story;
}

const unset: Partial<DataNode> = { failoverEligible: false, empty: true, role: 'replica', linkUp: false };
const linked: Partial<DataNode> = { ...unset, empty: false, linkUp: true, follows: 'old.example.com' };

function scene(base: ImportSeen, { imports, node, source, facts: other, claim, request, more }: Scene): Story {
  const seen: SourceSeen = source ?? { state: 'answering', facts: { ...facts, ...other } };
  return {
    primary: 'nobody',
    spec: {
      mode: 'Standalone',
      replicas: 1,
      bootstrap: { importFrom: { host: 'old.example.com', password: { name: 'source' } } },
    },
    terms: {},
    ...more,
    metadata: { annotations: request === undefined ? {} : { [cutOverAnnotation]: request }, ...more?.metadata },
    nodes: { 0: { ...(base.isTold ? linked : unset), imports: { ...base, ...imports }, ...node } },
    observed: { source: seen, at: now },
    children: (objects) =>
      objects.map((object) =>
        object.kind === 'PersistentVolumeClaim' && object.metadata.name === 'data-db-0'
          ? {
              ...object,
              metadata: {
                ...object.metadata,
                annotations: { ...object.metadata.annotations, ...(claim ?? { [importAnnotation]: 'uid-db' }) },
              },
            }
          : object,
      ),
  };
}

const first = (change: Scene = {}): Story => scene(untold, change);
const then = (change: Scene = {}): Story => scene(told, change);
const tried = { [importAnnotation]: 'uid-db', [cutOverUntilAnnotation]: String(now + 1000) };
const late = { ...tried, [cutOverUntilAnnotation]: String(now - 1) };
const asked = { request: 'verified@uid-db', claim: tried } as const;
const silent: SourceSeen = { state: 'silent', why: 'connect ECONNREFUSED' };
const tells = ['import db-0 <- old.example.com:6379', 'wait Importing'];
const refuses = (change: Scene): readonly string[] => planned(first(change));

describe('an import', () => {
  it.each<PlanRow>([
    [
      'first writes down for whom the volume is',
      first({ claim: {} }),
      [`data-db-0: metadata.annotations[${importAnnotation}] undefined > uid-db`, 'wait Importing'],
    ],
    ['R1: never on a volume that holds data', first({ claim: {}, node: { empty: false } }), ['blocked DataExists']],
    ['R1: nor on one with the mark', first({ claim: {}, node: { failoverEligible: true } }), ['blocked DataExists']],
    [
      'R1: nor on one that is of an earlier cluster of the name',
      first({ claim: { [importAnnotation]: 'uid-before', [termAnnotation]: '1' } }),
      ['blocked DataExists'],
    ],
    ['then has the node copy', first(), tells],
    ['again, where it was started again with a part of the copy', first({ node: { empty: false } }), tells],
    ['and where the password has changed', then({ imports: { hasLogin: false } }), tells],
    [
      'the name of the source has come to mean another server, which has been promoted there',
      then({ facts: { replid: 'other' } }),
      ['import db-0 <- old.example.com:6379 anew', 'wait Importing'],
    ],
    [
      'the link is down: it comes back by itself',
      then({ node: { linkUp: false }, facts: { replid: 'other' } }),
      ['wait ImportFailing'],
    ],
    ['waits for a node that does not answer', { ...first(), nodes: { 0: 'silent' } }, ['wait Importing']],
    ['without a password', first({ source: { state: 'unusable', why: 'no' } }), ['blocked SecretMissing']],
    ['a source that does not answer', first({ source: silent }), ['wait ImportFailing']],
    ['a source that is loading', first({ facts: { isLoading: true } }), ['wait ImportFailing']],
    ['copies', then({ imports: { isSyncing: true, wasLinked: false }, node: { linkUp: false } }), ['wait Importing']],
    ['writes the copy down', then({ node: { unwritten: true } }), ['wait Importing']],
    ['follows', then(), ['wait Following']],
    ['an empty source', then({ facts: { keys: 0 } }), ['wait Following']],
    ['the source has become a replica', then({ facts: { role: 'replica' } }), ['wait ImportFailing']],
    ['the source is away', then({ source: silent }), ['wait ImportFailing']],
  ])('%s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it.each<PlanRow>([
    [
      'is tried for a minute',
      then({ request: 'verified@uid-db' }),
      [`data-db-0: metadata.annotations[${cutOverUntilAnnotation}] undefined > ${now + 60_000}`, 'wait CuttingOver'],
    ],
    ['writes the term before', then(asked), ['data-db-0: term undefined > 1', 'cut over db-0', 'wait CuttingOver']],
    [
      'goes on where the operator ended after that',
      then({ ...asked, claim: { ...tried, [termAnnotation]: '1' } }),
      ['cut over db-0', 'wait CuttingOver'],
    ],
    [
      'is refused after that, and the term goes',
      then({ ...asked, claim: { ...late, [termAnnotation]: '1' } }),
      ['data-db-0: term 1 > undefined', 'blocked CutOverRefused'],
    ],
    [
      'is forgotten where it is withdrawn',
      then({ claim: { ...late, [termAnnotation]: '1' } }),
      [
        `data-db-0: metadata.annotations[${cutOverUntilAnnotation}] ${now - 1} > undefined, term 1 > undefined`,
        'wait Following',
      ],
    ],
    ['of another cluster', then({ request: 'verified@uid-before' }), ['blocked CutOverRefused']],
    ['in other words', then({ request: 'yes' }), ['blocked CutOverRefused']],
    ['of an empty source', then({ ...asked, facts: { keys: 0 } }), ['wait CuttingOver']],
    ['of a source that is a replica', then({ ...asked, facts: { role: 'replica' } }), ['wait CuttingOver']],
    ['of a source that is away', then({ ...asked, source: silent }), ['wait CuttingOver']],
    ['before the copy is whole', then({ ...asked, imports: { isSyncing: true } }), ['wait CuttingOver']],
    ['before the copy is on the volume', then({ ...asked, node: { unwritten: true } }), ['wait CuttingOver']],
    ['given up, but it answers', then({ ...asked, request: '1000@uid-db' }), ['wait CuttingOver']],
    [
      'given up, but it only lets nobody in',
      then({ ...asked, request: '1000@uid-db', source: { ...silent, isRefusal: true }, node: { linkUp: false } }),
      ['wait CuttingOver'],
    ],
    [
      'given up at another offset',
      then({ ...asked, request: '999@uid-db', source: silent, node: { linkUp: false } }),
      ['wait CuttingOver'],
    ],
    [
      'given up at this offset',
      then({ ...asked, request: '1000@uid-db', source: silent, node: { linkUp: false } }),
      ['data-db-0: term undefined > 1', 'cut over db-0 at 1000', 'wait CuttingOver'],
    ],
    [
      'R1: the node ended meanwhile: nobody knows whether it took writes',
      first({ claim: { ...tried, [termAnnotation]: '1' }, node: { empty: false } }),
      ['blocked ImportInterrupted'],
    ],
    [
      'and a person goes on with what it has',
      first({
        claim: { ...tried, [termAnnotation]: '1' },
        node: { empty: false },
        more: { metadata: { annotations: { [choiceAnnotation]: 'db-0:uid-Pod-db-0' } } },
      }),
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'it had become primary, as its volume tells',
      first({ claim: { ...tried, [termAnnotation]: '1' }, node: { empty: false, failoverEligible: true } }),
      ['promote db-0', 'wait Promoting'],
    ],
    [
      'is done: the request goes',
      first({ ...asked, node: { role: 'primary', empty: false, linkUp: true } }),
      [
        'db-0: role undefined > primary',
        'data-db-0: term undefined > 1',
        `data-db-0: metadata.annotations[${cutOverUntilAnnotation}] ${now + 1000} > undefined`,
        `db: metadata.annotations[${cutOverAnnotation}] verified@uid-db > undefined`,
        'configure db-0 replica-priority=100',
        'wait Repairing',
      ],
    ],
  ])('a request to cut over: %s', (_, story, plan) => expect(planned(story)).toEqual(plan));

  it.each<[string, Scene]>([
    ['this cluster itself', { facts: { runId: 'node' } }],
    ['in cluster mode', { facts: { isCluster: true } }],
    ['a replica', { facts: { role: 'replica' } }],
    ['older than 6.0', { facts: { server: { engine: 'Redis', version: '5.0.14' } } }],
    ['newer', { facts: { server: { engine: 'Redis', version: '8.2.0' } } }],
    ['a Valkey that Redis cannot read', { facts: { server: { engine: 'Valkey', version: '9.0.0' } } }],
    ['with more databases', { facts: { databases: 17 } }],
    ['with a key in a database that a node does not have', { facts: { highestDatabase: 16 } }],
    ['with a module', { facts: { modules: ['ReJSON'] } }],
    ['with more data than fits', { facts: { usedMemory: 1024 ** 4 } }],
  ])('a source that is %s is refused', (_, change) => expect(refuses(change)).toEqual(['blocked ImportRefused']));

  it.each<[string, Scene]>([
    ['6.2, which is older than the table', { facts: { server: { engine: 'Redis', version: '6.2.1' } } }],
    ['a Valkey that Redis reads', { facts: { server: { engine: 'Valkey', version: '8.1.0' } } }],
    ['with a module that the image has', { facts: { modules: ['vectorset'] }, imports: { modules: ['vectorset'] } }],
    ['that does not tell how many databases it has', { facts: { databases: 0 } }],
  ])('a source that is %s is copied', (_, change) => expect(refuses(change)).toEqual(tells));

  it('under Sentinel there is one node until the cut-over, and no sentinel; then all of them', () => {
    const spec = { bootstrap: { importFrom: { host: 'old' } } };
    const { cluster, observed } = redisWorld({ spec, size: 0, sentinelSize: 0, primary: 'nobody', terms: {} });
    const fresh = redisWorld({ spec, size: 0, sentinelSize: 0, primary: 'nobody', children: () => [] });
    const plan = planRedis(situationOf(cluster, fresh.children, observed));
    const sizesIn = ({ steps }: typeof plan): unknown =>
      Object.fromEntries(
        steps.flatMap((step) =>
          step.type === 'create' && step.object.kind === 'StatefulSet'
            ? [[step.object.metadata.name, (step.object.spec as { replicas: number }).replicas]]
            : [],
        ),
      );
    expect(sizesIn(plan)).toEqual({ db: 1, 'db-sentinel': 0 });
    const locked = planRedis(
      situationOf(cluster, fresh.children, { ...observed, credentialsProblem: 'Secret db-auth does not exist' }),
    );
    expect(sizesIn(locked)).toEqual({ db: 1, 'db-sentinel': 0 });
    const done = planned({ spec, size: 1, sentinelSize: 0, primary: 0 });
    expect(done.filter((step) => /replicas/.test(step))).toEqual([
      'apply StatefulSet db: spec.replicas 1 > 3',
      'apply StatefulSet db-sentinel: spec.replicas 0 > 3',
    ]);
  });

  it('R1: nothing is made where an earlier cluster of the name has left volumes', () => {
    const spec = { bootstrap: { importFrom: { host: 'old' } } };
    const story: Story = {
      spec,
      primary: 'nobody',
      nodes: { all: 'gone' },
      sentinels: { all: 'gone' },
      children: (objects) => objects.filter(({ kind }) => kind === 'PersistentVolumeClaim'),
    };
    expect(planned(story)).toEqual(['blocked DataExists']);
  });

  it('says how far it is, and is Creating for as long as it takes', () => {
    const { cluster, children, observed } = redisWorld(then());
    const situation = situationOf({ ...cluster, status: { phase: 'Updating' } }, children, observed);
    const plan = planRedis(situation);
    const { phase, initialized } = redisStatus(situation, plan);
    expect({ phase, initialized, outcome: plan.outcome }).toEqual({
      phase: 'Creating',
      initialized: undefined,
      outcome: {
        state: 'wait',
        reason: 'Following',
        message:
          'follows old.example.com:6379: 200 bytes behind, source 1200, here 1000; to cut over, stop the clients of the source and set clusterwright.dev/cut-over=verified@uid-db',
        recheckMs: 5000,
      },
    });
  });

  it('a name without a dot is a Service of the namespace, for the operator and for the pod', () => {
    const story = first({
      more: { spec: { mode: 'Standalone', replicas: 1, bootstrap: { importFrom: { host: 'old' } } } },
    });
    expect(planned(story)).toEqual(['import db-0 <- old.apps.svc:6379', 'wait Importing']);
  });
});
