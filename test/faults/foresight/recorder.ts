/**
 * What the operator knew at the beginning of each pass: the objects of that moment, its own view of them, and all that
 * the database processes answered. From these its plan can be made again, in the way in which the CLI makes one.
 */
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Assessment, KindHandler } from '../../../src/engine/engine.ts';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import type { EngineAction } from '../../../src/plan/plan.ts';
import { type Children, noChildren } from '../../../src/resources/children.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import type { Clock } from '../../../src/system/clock.ts';
import type { Dial } from '../../../src/system/dial.ts';
import { targetOf } from '../wire/request.ts';
import { type JudgedPods, withDryRuns } from './judged-pods.ts';
import { frozen, type KeptIO, keeping } from './kept-io.ts';
import { type RefusedResizes, withRefusedResizes } from './refused-resizes.ts';
import { type Connection, tapped, tappedWithin } from './transcript.ts';

export interface Pass {
  readonly life: number;
  readonly engine: KindHandler;
  /** Milliseconds of the run, and of the wall. */
  readonly began: number;
  readonly now: number;
  /** How many requests had been sent: at the moment of `began` the pass before may have sent its last one. */
  readonly sentBefore: number;
  /** What was in the API server. */
  readonly objects: readonly KubeObject[];
  /** What the operator took it for. */
  readonly cluster: Cluster;
  readonly children: Children;
  readonly referred: Cluster | undefined;
  /** All that the processes were asked until the plan was made, and what they answered. */
  connections: readonly Connection[];
  /** Of that what was over TLS, and which time limits held. */
  kept: KeptIO;
  /** Whether all that was asked has been answered, or given up: what is done now rests on it. */
  isPlanned: boolean;
  /** Milliseconds until that was so. */
  tookMs: number;
  /** Of one whose spec is not valid: `cluster` is what still counts of it. */
  readonly isUpkeep: boolean;
  /** What it took the Secrets for: it remembers what it has read of one for up to an hour. */
  readonly secrets: Map<string, Readonly<Record<string, string>> | undefined>;
  /** What it had been told by dry runs, before and in this pass. */
  readonly judgedPods: JudgedPods;
  /** What it had been refused of resizes before this pass. */
  readonly refusedResizes: RefusedResizes;
  /** When the answers came to what was read of Secrets meanwhile, in the order in which it was asked. */
  secretReads: readonly SecretRead[];
}

export interface SecretRead {
  readonly path: string;
  /** Undefined where no answer came. */
  answeredAt?: number;
}

/** An engine's action at work. */
export interface Act {
  readonly pass: Pass;
  readonly action: EngineAction;
  readonly from: number;
  to?: number;
  /** It was refused, or not answered. */
  failure?: string;
}

/** What a process of the operator is made with. */
export interface Edges {
  readonly engines: readonly KindHandler[];
  readonly transport: Transport;
  readonly dial: Dial;
}

export interface ForesightRecorder {
  /** The same, with everything taken down. */
  life(id: number, edges: Edges): Edges;
  readonly passes: readonly Pass[];
  readonly acts: readonly Act[];
}

/** Looks while it happens. Nothing is kept for afterwards then. */
export interface Onlooker {
  began(pass: Pass): void;
  /** Resolves when the action may begin. */
  acting(act: Act): Promise<void>;
}

export function foresightRecorder(options: {
  readonly clock: Clock;
  readonly objects: () => readonly KubeObject[];
  readonly sent: () => number;
  readonly onlooker?: Onlooker;
}): ForesightRecorder {
  const { clock, objects, sent, onlooker } = options;
  const passes: Pass[] = [];
  const acts: Act[] = [];
  /** Of each process, what it has been told by dry runs, and its newest pass over each resource. */
  const lives = new Map<
    number,
    { readonly judged: JudgedPods; readonly refused: RefusedResizes; readonly current: Map<string, Pass> }
  >();
  const lifeOf = (id: number) => {
    const life = lives.get(id) ?? { judged: new Map(), refused: new Map(), current: new Map() };
    lives.set(id, life);
    return life;
  };

  function begin(
    life: number,
    engine: KindHandler,
    cluster: Cluster,
    children: Children,
    referred?: Cluster,
    isUpkeep = false,
  ): Pass {
    const [began, now] = [clock.monotonic(), clock.now()];
    const pass: Pass = {
      life,
      engine,
      began,
      now,
      sentBefore: sent(),
      objects: objects(),
      cluster,
      children,
      referred,
      connections: [],
      kept: { exchanges: [], waits: [], nonces: [] },
      isPlanned: false,
      tookMs: 0,
      isUpkeep,
      secretReads: [],
      secrets: new Map(),
      judgedPods: new Map(lifeOf(life).judged),
      refusedResizes: new Map(lifeOf(life).refused),
    };
    lifeOf(life).current.set(`${cluster.kind} ${cluster.metadata.namespace}/${cluster.metadata.name}`, pass);
    if (onlooker === undefined) passes.push(pass);
    else onlooker.began(pass);
    return pass;
  }

  return {
    passes,
    acts,
    life(id, { engines, transport, dial }) {
      // A listener speaks to the same processes meanwhile. Every connection is asked for before the call for it returns.
      let asking: Connection[] | undefined;
      const askedFor = <T>(connections: Connection[] | undefined, ask: () => T): T => {
        asking = connections;
        try {
          return ask();
        } finally {
          asking = undefined;
        }
      };
      const secretReads: SecretRead[] = [];
      const planned = new WeakSet<Pass>();
      const recorded = engines.map((engine): KindHandler => {
        const { lastBackup, maintenance, removal } = engine;
        const upkeepOf = new WeakMap<Cluster, Assessment['act']>();
        const reading =
          (pass: Pass, io: EngineContext): EngineContext['secret'] =>
          async (name, whose, told) => {
            const values = await io.secret(name, whose, told);
            // An action may read one that the plan has made.
            if (!planned.has(pass)) pass.secrets.set(name, values);
            return values;
          };
        /** Takes down all that is asked until there is an answer, and what is done after it. */
        async function observed<Answer extends Pick<Assessment, 'act'> | undefined>(
          pass: Pass,
          io: EngineContext,
          ask: (watched: EngineContext) => Promise<Answer>,
        ): Promise<Answer> {
          const connections: Connection[] = [];
          const firstRead = secretReads.length;
          const { kept, ...keepable } = keeping(io, () => clock.monotonic());
          const into = (): Connection[] | undefined => (planned.has(pass) ? undefined : connections);
          const answer = await ask({
            ...io,
            ...keepable,
            secret: reading(pass, io),
            dial: (...place) => askedFor(into(), () => io.dial(...place)),
            secure: tappedWithin(io.secure, () => clock.monotonic()),
            exchange: (request) => askedFor(into(), () => keepable.exchange(request)),
          });
          planned.add(pass);
          pass.connections = connections.map((one) => ({ ...one, events: [...one.events] }));
          pass.kept = frozen(kept);
          pass.secretReads = secretReads.slice(firstRead);
          pass.isPlanned = true;
          pass.tookMs = clock.monotonic() - pass.began;
          if (answer === undefined) return answer;
          return {
            ...answer,
            async act(action: EngineAction) {
              const act: Act = { pass, action, from: clock.monotonic() };
              if (onlooker === undefined) acts.push(act);
              else await onlooker.acting(act);
              try {
                await answer.act(action);
              } catch (error) {
                act.failure = error instanceof Error ? error.message : String(error);
                throw error;
              } finally {
                act.to = clock.monotonic();
              }
            },
          };
        }
        return {
          ...engine,
          async assess(cluster, children, io, referred, peers) {
            const pass = begin(id, engine, cluster, children, referred);
            return observed(pass, io, (watched) => engine.assess(cluster, children, watched, referred, peers));
          },
          ...(removal === undefined
            ? {}
            : {
                async removal(cluster, io, referred) {
                  const pass = begin(id, engine, cluster, noChildren, referred);
                  return observed(pass, io, (watched) => removal(cluster, watched, referred));
                },
              }),
          // Who is asked for a last backup is being deleted, and the processes are not asked.
          ...(lastBackup === undefined
            ? {}
            : {
                lastBackup: (cluster, children, now) => {
                  begin(id, engine, cluster, children).isPlanned = true;
                  return lastBackup(cluster, children, now);
                },
              }),
          ...(maintenance === undefined
            ? {}
            : {
                maintenance: {
                  fields: maintenance.fields,
                  async plan(cluster, io, children) {
                    // Of one that is being deleted it is a part of the same plan.
                    if (cluster.metadata.deletionTimestamp !== undefined)
                      return maintenance.plan(cluster, io, children);
                    const pass = begin(id, engine, cluster, children, undefined, true);
                    const { steps, act } = await observed(pass, io, async (watched) => ({
                      steps: await maintenance.plan(cluster, watched, children),
                      act: async (action: EngineAction) => maintenance.act?.(action, cluster, io),
                    }));
                    upkeepOf.set(cluster, act);
                    return steps;
                  },
                  act: (action, cluster) => upkeepOf.get(cluster)?.(action) ?? Promise.reject(new Error('not planned')),
                },
              }),
        };
      });
      return {
        engines: recorded,
        dial: tapped(
          dial,
          () => asking,
          () => clock.monotonic(),
        ),
        transport: withDryRuns(
          withRefusedResizes(
            withReads(transport, secretReads, () => clock.monotonic()),
            lifeOf(id).refused,
            () => clock.monotonic(),
          ),
          (note) => {
            const { judged, current } = lifeOf(id);
            for (const one of [judged, ...[...current.values()].map(({ judgedPods }) => judgedPods)]) note(one);
          },
        ),
      };
    },
  };
}

function withReads(transport: Transport, reads: SecretRead[], now: () => number): Transport {
  return {
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
    async request(request) {
      if (request.method !== 'GET' || targetOf(request.path).resource !== 'secrets') return transport.request(request);
      const read: SecretRead = { path: request.path };
      reads.push(read);
      const response = await transport.request(request);
      read.answeredAt = now();
      return response;
    },
  };
}
