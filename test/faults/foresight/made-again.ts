/**
 * A plan made again, in the code of the CLI, from what was known at the beginning of a pass: the objects, and what the
 * processes answered.
 */
import type { Cluster, CommonSpec } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { previewOf } from '../../../src/cli/plan-live.ts';
import type { Assessment, KindHandler } from '../../../src/engine/engine.ts';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import { plansOf } from '../../../src/engine/judgement.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { type Gated, gated, waitingForRollout } from '../../../src/plan/rollout-gate.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../../src/resources/metadata.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import { sleep } from '../../../src/system/clock.ts';
import { handlers as engines } from '../../support/handlers.ts';
import { over } from '../simulated/settling.ts';
import { virtualTime } from '../world/time.ts';
import { frozenClient } from './frozen-client.ts';
import { judgedAgain } from './judged-pods.ts';
import { givenAgain } from './kept-io.ts';
import { againUntil } from './recorded-time.ts';
import type { Pass } from './recorder.ts';
import { refusedAgain } from './refused-resizes.ts';
import { replayed } from './transcript.ts';

const unreachable = (): Promise<never> => Promise.reject(new Error('nobody is asked through the API server'));
/** Virtual milliseconds: each process is given up after one second, or a few. */
const patienceMs = 300_000;

/**
 * The CLI's plan, as of the beginning of the pass, from these objects; and, where a rollout begins with it, what is left of it while other
 * clusters restart pods. The CLI shows the rollout, and says that it waits for its turn, which only the operator knows.
 */
export async function plansFrom(pass: Pass, objects: readonly KubeObject[]): Promise<readonly Plan[]> {
  let begins = false;
  const first = await planFrom(pass, objects, (assessment, left) => {
    begins = left.hold?.reason === waitingForRollout;
    return assessment;
  });
  const held = ({ otherwise: _, ...assessment }: Assessment, { plan }: Gated): Assessment => ({ ...assessment, plan });
  return begins ? [first, await planFrom(pass, objects, held)] : [first];
}

/** `chosen`: of the engine's assessment, or of what is left of it without a place. */
async function planFrom(
  pass: Pass,
  objects: readonly KubeObject[],
  chosen: (assessment: Assessment, withoutPlace: Gated) => Assessment,
): Promise<Plan> {
  const time = virtualTime();
  const { name, namespace } = pass.cluster.metadata;
  const again = (io: EngineContext): EngineContext => ({
    ...io,
    ...givenAgain(io, pass.kept, time, pass.began),
    // What was said within TLS was kept in the clear.
    secure: (stream) => Promise.resolve(stream),
  });
  const { removal } = pass.engine;
  const engine: KindHandler = {
    ...pass.engine,
    async assess(cluster, children, io, referred, peers) {
      const assessment = await pass.engine.assess(cluster, children, again(io), referred, peers);
      const facts = {
        cluster: cluster as Cluster<CommonSpec>,
        children,
        resource: pass.engine.kind.resource,
        now: pass.now,
      };
      return chosen(assessment, gated(plansOf(assessment), { ...facts, takePlace: () => 'others' }));
    },
    ...(removal === undefined ? {} : { removal: (cluster, io, referred) => removal(cluster, again(io), referred) }),
  };
  const reads = [...pass.secretReads];
  const answered = async (path: string): Promise<void> => {
    const next = reads.findIndex((read) => read.path === path);
    const [read] = next < 0 ? [] : reads.splice(next, 1);
    if (read?.answeredAt !== undefined) await sleep(time, Math.max(0, read.answeredAt - pass.began - time.monotonic()));
  };
  const work = previewOf({ engine, name }, namespace, engines, {
    cluster: 'simulated',
    client: frozenClient(
      withSecrets(objects, pass),
      answered,
      (pod) => judgedAgain(pass.judgedPods, pod),
      (ref, subresource) => refusedAgain(pass.refusedResizes, pass.began, ref, subresource),
    ),
    way: 'direct',
    forward: unreachable,
    dial: replayed(pass.connections, time, pass.began),
    clock: {
      now: () => pass.now + time.monotonic(),
      monotonic: time.monotonic,
      after: (ms, call) => time.after(ms, call),
    },
  });
  if (!(await againUntil(time, over(work), { tookMs: pass.tookMs, patienceMs })))
    throw new Error('the plan is never made');
  return (await work).plan;
}

/** With what the operator remembered of Secrets, which may have changed since. */
function withSecrets(objects: readonly KubeObject[], { secrets, cluster, engine }: Pass): readonly KubeObject[] {
  const { name: instance, namespace } = cluster.metadata;
  const isRead = ({ kind, metadata }: KubeObject): boolean => kind === 'Secret' && secrets.has(metadata.name);
  const read = [...secrets].flatMap(([name, values]): KubeObject[] => {
    if (values === undefined) return [];
    const there = objects.find((object) => object.kind === 'Secret' && object.metadata.name === name);
    const data = Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    // One that was gone by then was the operator's own: of somebody else's it remembers nothing that it uses.
    const labels = { [managedByLabel]: managedBy, [instanceLabel]: instance, [nameLabel]: engine.name };
    const made = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels } };
    return [{ ...(there ?? made), data: Object.fromEntries(data) }];
  });
  return [...objects.filter((object) => !isRead(object)), ...read];
}

/** Of what the operator watches: an earlier template is asked for by its name. */
const isChild = (pass: Pass, { kind, metadata }: KubeObject): boolean =>
  kind !== 'ControllerRevision' &&
  metadata.labels?.[managedByLabel] === managedBy &&
  metadata.labels[nameLabel] === pass.engine.name &&
  metadata.labels[instanceLabel] === pass.cluster.metadata.name;

const isSame = (some: KubeObject, other: KubeObject): boolean =>
  some.kind === other.kind &&
  some.metadata.name === other.metadata.name &&
  some.metadata.namespace === other.metadata.namespace;

function viewOf({ cluster, children, referred, isUpkeep }: Pass): readonly KubeObject[] {
  // Of one whose spec is not valid it has read a part.
  const own = isUpkeep ? [] : [cluster];
  return [...own, ...children.objects, ...(referred === undefined ? [] : [referred])];
}

/** Whether the operator's view was not what was in the API server: something newer is there, or something else. */
export function wasBehind(pass: Pass): boolean {
  const view = viewOf(pass);
  const isOld = view.some((seen) => {
    const there = pass.objects.find((object) => isSame(object, seen));
    return there?.metadata.resourceVersion !== seen.metadata.resourceVersion;
  });
  return isOld || pass.objects.some((object) => isChild(pass, object) && !view.some((seen) => isSame(object, seen)));
}

export function asSeen(pass: Pass): readonly KubeObject[] {
  const view = viewOf(pass);
  const others = pass.objects.filter((object) => !isChild(pass, object) && !view.some((seen) => isSame(object, seen)));
  return [...view, ...others];
}

export function planWords({ steps, outcome }: Plan): string {
  const why = outcome.state === 'settled' ? 'settled' : `${outcome.reason}: ${outcome.message}`;
  return `the plan was: ${[...steps.map(describeStep), why].join('; ')}`;
}
