/**
 * One simulated run, from an empty Kubernetes to everything that can be known of it: the cluster of the scenario is made
 * in peace, then scenario and faults begin together, everything is given time to settle, and is watched at rest.
 */
import { customResourceDefinition } from '../../../src/api/crd.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { parseKeys } from '../../../src/backup/key.ts';
import { defaultAgentImage } from '../../../src/jobs/agent-pod.ts';
import { handlers as engines } from '../../support/handlers.ts';
import { agentProgram } from '../backup/agent.ts';
import { putOnShelf } from '../backup/earlier.ts';
import { createVault } from '../backup/vault.ts';
import { watchVault } from '../backup/watch.ts';
import { unforeseen } from '../foresight/foresight.ts';
import { offlineDifferences } from '../foresight/offline.ts';
import { foresightRecorder } from '../foresight/recorder.ts';
import { simulatedKubernetes } from '../kubernetes/simulated-kubernetes.ts';
import type { Fault, Plan } from '../plan.ts';
import type { RunRecord } from '../record.ts';
import { backupClaim, backupPrefix, encryptionKey } from '../scenarios/furniture.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { SimulatedWorld, SubjectKit } from '../subject.ts';
import { createWire, type WireEntry } from '../wire/wire.ts';
import { deriveKeysAtOnce } from '../world/key-derivation.ts';
import { seeded } from '../world/random.ts';
import { simulatedNetwork } from '../world/simulated-network.ts';
import { virtualTime } from '../world/time.ts';
import type { Images } from '../world/workload.ts';
import { createAccidents } from './accidents.ts';
import { createOperators } from './operators.ts';
import { collectionAt } from './past.ts';
import { isWrite, lookMs, over, reaches, settles } from './settling.ts';
import { clientOf, leftovers, simulatedStage, unblocked, unfinished } from './stage.ts';

const namespace = 'test';
const cluster = 'db';
/** Virtual milliseconds. Faults last a minute at most; backoffs end after a few. */
const limits = { preparation: 300_000, settling: 1_500_000, closing: 120_000 } as const;
/** Clients have written something before anything happens. */
const warmUpMs = 2_000;
/** Of rest, with clients. */
const watchedMs = 30_000;

export interface RunOptions {
  readonly plan: Plan;
  readonly scenario: Scenario;
  readonly kit: () => SubjectKit;
  /** Virtual milliseconds of rest that are watched once clients have stopped, after the 30 s with them; default none. */
  readonly restMs?: number | undefined;
}

export async function simulatedRun({ plan, scenario, kit, restMs = 0 }: RunOptions): Promise<RunRecord> {
  const time = virtualTime();
  const random = seeded(plan.seed);
  const network = simulatedNetwork(time, random);
  deriveKeysAtOnce();
  const { images: own, subject, database, join } = kit();
  const vault = createVault(time, network);
  const images: Images = (reference) =>
    reference === defaultAgentImage ? agentProgram(vault, database) : own(reference);
  const crds = engines.map(({ kind }) => customResourceDefinition(kind));
  const kubernetes = simulatedKubernetes({ time, random, network, images, nodes: 5, crds, namespaces: [namespace] });
  const world: SimulatedWorld = { time, network, kubernetes, namespace, cluster };
  join?.(world);
  const wire = createWire({
    clock: time,
    faults: plan.faults,
    crash: (life) => operators.crash(life),
    begin: (fault) => accidents.begin(fault),
    touch: (request) => accidents.touch(request),
    past: (request, version) => collectionAt(kubernetes, request, version),
    version: () => kubernetes.version,
  });
  const foresight = foresightRecorder({
    clock: time,
    objects: () => kubernetes.objects(),
    sent: () => wire.entries.length,
  });
  const operators = createOperators({ clock: time, random, kubernetes, network, wire, namespace, foresight });
  const stage = simulatedStage({ world, subject, client: clientOf(world, 'user', random), operators, vault });
  const somebody = clientOf(world, 'somebody', random);
  const accidents = createAccidents({ world, subject, stage, operators, somebody, vault });

  const unwhole = (): readonly string[] => {
    const object = kubernetes.objects().find(({ kind }) => kind === subject.resource.kind);
    return object === undefined ? ['the custom resource is not there'] : subject.complaints(world, object);
  };
  const ending = {
    whole: unwhole,
    gone: () => leftovers(world, subject.resource, String(scenario.before?.deletionPolicy ?? 'Retain')),
    blocked: () => unblocked(world, subject.resource),
  }[scenario.end];
  const complaints = (): readonly string[] => [...ending(), ...unfinished(world, scenario.phases ?? {})];
  const settle = (of: () => readonly string[], ms: number): Promise<boolean> =>
    settles(time, { complaints: of, wire }, ms);

  const unhandled: string[] = [];
  const onUnhandled = (error: unknown): void => {
    unhandled.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  process.on('unhandledRejection', onUnhandled);
  try {
    operators.start();
    await prepare();
    const beganAt = time.monotonic();
    const [commitsBefore, entriesBefore] = [kubernetes.commits.length, wire.entries.length];
    const before = kubernetes.objects();
    const ledger = scenario.written ? subject.openLedger(world, scenario.discovery) : undefined;
    const guard = subject.guard(world);
    const watched = watchVault({
      ...{ world, vault, database },
      keys: parseKeys(encryptionKey),
      claims: [backupClaim],
      contents: () => subject.contents(world),
      restored: scenario.restored,
    });
    if (ledger !== undefined) await time.advance(warmUpMs);

    wire.arm();
    const armedAt = time.monotonic();
    const faultsEnd = armedAt + Math.max(0, ...plan.faults.map(endOf));
    const acting = scenario.act(stage);
    const acted = over(acting);
    const hasActed = await reaches(time, () => acted() && time.monotonic() >= faultsEnd, limits.settling);
    const settled = hasActed && (await settle(complaints, limits.settling));
    const unsettled = settled ? [] : [...complaints(), ...wire.unnoticed];
    wire.disarm();
    const settledAt = time.monotonic();
    const entriesAtRest = wire.entries.length;
    await time.advance(watchedMs);
    const closing = ledger?.close();
    if (closing !== undefined) await reaches(time, over(closing), limits.closing);
    const findings = guard();
    const vaulted = await watched();
    await time.advance(restMs);
    const restless = wire.entries.slice(entriesAtRest).filter(isWrite);
    const after = kubernetes.objects();
    const stopping = operators.stop();
    const isStopped = await reaches(time, over(stopping), limits.closing);
    if (hasActed) await acting;
    await accidents.over();
    return {
      plan,
      settled,
      complaints: unsettled,
      beganAt,
      armedAt,
      settledAt,
      endedAt: time.monotonic(),
      commits: kubernetes.commits.slice(commitsBefore),
      before,
      after,
      entries: wire.entries.slice(entriesBefore),
      writes: wire.writes,
      writeBudget: scenario.writes,
      lives: operators.lives,
      restless: restless.map(({ verb, what }) => `${verb} ${what}`),
      ledger: await closing,
      ...findings,
      untrue: findings.untrue ?? [],
      vault: vaulted,
      unforeseen: await notForeseen(beganAt, wire.entries.slice(entriesBefore)),
      log: operators.log,
      unhandled,
      secrets: passwordsIn(after),
      stopMs: isStopped ? await stopping : undefined,
    };
  } finally {
    process.off('unhandledRejection', onUnhandled);
  }

  /** Without faults from the very beginning; with them, of what was done meanwhile. */
  async function notForeseen(beganAt: number, entries: readonly WireEntry[]): Promise<readonly string[]> {
    const { passes, acts } = foresight;
    if (plan.faults.length > 0) {
      const later = acts.filter(({ to = Number.POSITIVE_INFINITY }) => to >= beganAt);
      return unforeseen({ passes, acts: later }, entries, false);
    }
    return [
      ...(await unforeseen(foresight, wire.entries, true)),
      // What is created while nothing else happens to it.
      ...offlineDifferences(
        kubernetes.commits.filter(({ at }) => at >= beganAt),
        entries,
      ),
    ];
  }

  async function prepare(): Promise<void> {
    for (const backup of scenario.earlier ?? []) {
      await putOnShelf({ vault, database, time, namespace, prefix: backupPrefix, key: encryptionKey }, backup);
    }
    const furnishing = Promise.all((scenario.furniture ?? []).map((object) => stage.make(object)));
    await reaches(time, over(furnishing), limits.preparation);
    await furnishing;
    if (scenario.before === undefined) return time.advance(lookMs);
    const made = stage.create(scenario.before);
    await reaches(time, over(made), limits.preparation);
    await made;
    const isWhole = await settle(unwhole, limits.preparation);
    const preparing = scenario.prepare?.(stage);
    if (preparing !== undefined) {
      const isPrepared = await reaches(time, over(preparing), 12 * limits.preparation);
      if (!isPrepared) throw new Error(`${scenario.id} could not be prepared`);
      await preparing;
    }
    if (isWhole && (preparing === undefined || (await settle(unwhole, limits.preparation)))) return;
    throw new Error(`the cluster of ${scenario.id} never came to be: ${unwhole().join('; ')}`);
  }
}

/** Milliseconds into the scenario at which a fault is over for certain, as far as its plan says. */
function endOf(fault: Fault): number {
  const begins = 'at' in fault && 'ms' in fault.at ? fault.at.ms : 0;
  return begins + ('forMs' in fault ? (fault.forMs ?? 0) : 0);
}

/** Of Secrets with certificates, and of those that tell applications where to connect: what everybody may know. */
const openKeys: ReadonlySet<string> = new Set([
  ...['tls.crt', 'ca.crt', 'next.crt', 'previous.crt', 'generation', 'changed'],
  ...['type', 'provider', 'host', 'port', 'database', 'username'],
]);

function passwordsIn(objects: readonly KubeObject[]): readonly string[] {
  return objects
    .filter(({ kind }) => kind === 'Secret')
    .flatMap(({ data }) => Object.entries((data ?? {}) as Readonly<Record<string, string>>))
    .filter(([key]) => !openKeys.has(key))
    .map(([, value]) => Buffer.from(value, 'base64').toString('utf8'));
}
