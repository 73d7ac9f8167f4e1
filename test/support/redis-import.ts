/**
 * An import between real servers: what the operator does from one pass to the next, with a world of pods and claims that a test keeps. The node is
 * `n1`, the source `n9`; nodes and sentinels that join are added by the test.
 */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { actRedis } from '../../src/engines/redis/act/act.ts';
import type { RedisAction } from '../../src/engines/redis/action.ts';
import type { RedisSpec, RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import { observeRedis } from '../../src/engines/redis/observe/observe.ts';
import { situationOf } from '../../src/engines/redis/observe/situation.ts';
import { planRedis } from '../../src/engines/redis/plan/plan.ts';
import { redisStatus } from '../../src/engines/redis/status.ts';
import type { Plan, Step } from '../../src/plan/plan.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { realStage } from '../faults/redis/conformance/real-stage.ts';
import { password, type Stage } from '../faults/redis/conformance/stage.ts';
import { realContext } from './real-context.ts';
import type { RedisProgram } from './redis-program.ts';
import { redisCluster, redisWorld } from './redis-situation.ts';

export interface ImportStage {
  readonly stage: Stage;
  readonly io: EngineContext;
  /** Secrets, which a test may change. */
  readonly secrets: Record<string, Record<string, string>>;
  cluster(): Cluster<RedisSpec>;
  claim(): KubeObject;
  /** One look, and all steps of the plan. A step that fails is kept, and the later ones are left out. */
  pass(mayDo?: (step: Step<RedisAction>) => boolean): Promise<Plan<RedisAction>>;
  /** The message of the last step that failed. */
  failed(): string | undefined;
  /** Passes until the plan waits for this, or is blocked by it. */
  until(reason: string, withinMs?: number): Promise<Plan<RedisAction>>;
  annotate(annotations: Readonly<Record<string, string | undefined>>): void;
  /** Reasons of the conditions after the last pass. */
  conditions(): readonly string[];
  act(action: RedisAction): Promise<void>;
  /** A process that was killed, in the same pod. */
  restart(member: string): Promise<void>;
  /** Starts a blank data node, or a sentinel, as a pod of the cluster. */
  join(member: string): Promise<void>;
  close(): Promise<void>;
}

const blank = ['replicaof 127.0.0.1 1', 'replica-priority 0', 'propagation-error-behavior panic-on-replicas'] as const;

export const sourcePassword = 'of the source';

export interface ImportOptions {
  readonly node: RedisProgram;
  readonly source: RedisProgram;
  readonly spec?: RedisSpecInput;
  /** More lines of the source's configuration. */
  readonly sourceConf?: readonly string[];
  readonly nodeConf?: readonly string[];
  readonly importFrom?: { readonly user?: string };
}

export async function importStage({ node, source, ...options }: ImportOptions): Promise<ImportStage> {
  const stage = await realStage((member) => (member.endsWith('9') ? source : node));
  const secrets: Record<string, Record<string, string>> = {
    'db-auth': { password },
    'db-internal': { password: 'identity' },
    source: { password: sourcePassword },
  };
  const io = realContext(secrets);
  await stage.start('n9', [`requirepass "${sourcePassword}"`, ...(options.sourceConf ?? [])]);
  const own = [...blank, ...(options.nodeConf ?? [])];
  await stage.start('n1', own);
  const importFrom = { host: stage.address('n9'), password: { name: 'source' }, ...options.importFrom };
  const spec: RedisSpecInput = { mode: 'Standalone', replicas: 1, ...options.spec, bootstrap: { importFrom } };
  let cluster = redisCluster(spec, { uid: 'uid-db' });
  const members = new Set(['n1']);
  let claims: KubeObject[] = [];
  let failed: string | undefined;
  let conditions: readonly string[] = [];

  const podOf = (member: string): string =>
    member.startsWith('s') ? `db-sentinel-${Number(member.slice(1)) - 1}` : `db-${Number(member.slice(1)) - 1}`;

  function children(): KubeObject[] {
    const size = [...members].filter((member) => member.startsWith('n')).length;
    const sentinelSize = members.size - size;
    const { children: built } = redisWorld({
      spec,
      size,
      sentinelSize,
      primary: 'nobody',
      terms: {},
      addresses: {},
    });
    const addresses = new Map([...members].map((member) => [podOf(member), stage.address(member)]));
    const fresh = built.objects.filter(({ kind }) => kind === 'PersistentVolumeClaim');
    claims = fresh.map((claim) => claims.find(({ metadata }) => metadata.name === claim.metadata.name) ?? claim);
    return built.objects.flatMap((object) => {
      if (object.kind === 'PersistentVolumeClaim') return [];
      if (object.kind !== 'Pod') return [object];
      const podIP = addresses.get(object.metadata.name);
      return [{ ...object, status: { ...(object.status as object), podIP } }];
    });
  }

  function patched<T extends KubeObject>(object: T, patch: Readonly<Record<string, unknown>>): T {
    const wanted =
      (patch.metadata as { readonly annotations?: Readonly<Record<string, string | null>> }).annotations ?? {};
    const all = Object.entries({ ...object.metadata.annotations, ...wanted }).filter(([, value]) => value !== null);
    return {
      ...object,
      metadata: { ...object.metadata, annotations: Object.fromEntries(all) as Record<string, string> },
    };
  }

  async function carryOut(step: Step<RedisAction>): Promise<void> {
    if (step.type === 'act') return actRedis(step.action, cluster, io);
    if (step.type !== 'patch' || !('annotations' in ((step.patch.metadata as object | undefined) ?? {}))) return;
    if (step.ref.name === 'db') cluster = patched(cluster, step.patch);
    claims = claims.map((claim) => (claim.metadata.name === step.ref.name ? patched(claim, step.patch) : claim));
  }

  const importing: ImportStage = {
    stage,
    io,
    secrets,
    cluster: () => cluster,
    claim: () => claims[0] as KubeObject,
    failed: () => failed,
    conditions: () => conditions,
    act: (action) => actRedis(action, cluster, io),
    async pass(mayDo = () => true) {
      const found = childrenOf([...children(), ...claims]);
      const observed = await observeRedis(cluster, found, io);
      const situation = situationOf(cluster, found, observed);
      const plan = planRedis(situation);
      failed = undefined;
      for (const step of plan.steps) {
        if (!mayDo(step)) break;
        try {
          await carryOut(step);
        } catch (error) {
          failed = (error as Error).message;
          break;
        }
      }
      const { initialized, conditions: told } = redisStatus(situation, plan);
      conditions = told.map(({ reason }) => reason);
      cluster = { ...cluster, status: { ...cluster.status, ...(initialized === true ? { initialized } : {}) } };
      return plan;
    },
    async until(reason, withinMs = 100_000) {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const plan = await importing.pass();
        const { outcome } = plan;
        if (outcome.state === 'settled' ? reason === 'settled' : outcome.reason === reason) return plan;
        const told = outcome.state === 'settled' ? 'settled' : `${outcome.reason}: ${outcome.message}`;
        if (Date.now() > deadline) throw new Error(`not ${reason}, but ${told}; failed: ${failed}`);
        await io.sleep(100);
      }
    },
    annotate(annotations) {
      cluster = patched(cluster, {
        metadata: {
          annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [name, value ?? null])),
        },
      });
    },
    restart: (member) => stage.start(member, own),
    async join(member) {
      await stage.start(member, member.startsWith('n') ? own : []);
      members.add(member);
    },
    close: () => stage.close(),
  };
  return importing;
}
