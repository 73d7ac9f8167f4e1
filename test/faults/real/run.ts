/** One run on real pods: a plan, carried out in a place, from the beginning of its scenario to the end of its watch. */
import { isDeepStrictEqual } from 'node:util';
import { events } from '../../../src/api/resource.ts';
import { isNotFound } from '../../../src/runtime/api-error.ts';
import type { TransportRequest } from '../../../src/runtime/transport.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { guardEndpoints } from '../../support/endpoint-guard.ts';
import { readForesight } from '../../support/foresight-report.ts';
import { listAll } from '../../support/kubernetes.ts';
import { type Ledger, openLedger } from '../../support/ledger.ts';
import { primaryIn } from '../../support/redis-view.ts';
import { until } from '../../support/until.ts';
import { labelSelector } from '../kubernetes/selector.ts';
import { type Fault, type Plan, writeOf } from '../plan.ts';
import { targetOf } from '../wire/request.ts';
import { createWire, type Wire } from '../wire/wire.ts';
import { endStateOf } from './end-state.ts';
import type { Evidence } from './evidence.ts';
import { createOperator, type Operator } from './operator.ts';
import { changes, wordsOf } from './oracles.ts';
import type { Place } from './place.ts';
import { type RealScenario, realScenarios } from './scenarios.ts';
import { afflict, freeLease } from './troubles.ts';
import { createWitness } from './witness.ts';

const clock = systemClock;
/** For a scenario to end as it should, its faults included. */
const patienceMs = 150_000;
/** Longer than any pause of the planner between two looks. */
const quietMs = 4_000;
const quietPatienceMs = 60_000;
/** Acknowledged writes before the scenario begins. */
const warmUp = 100;
/** Several runs share the machine. */
const writers = 2;
const pauseMs = 10;

export function scenarioOf(plan: Plan): RealScenario {
  const scenario = realScenarios.find(({ id }) => id === plan.scenario);
  if (scenario === undefined) throw new Error(`there is no scenario ${plan.scenario} on real pods`);
  return scenario;
}

/** Makes the place what the scenario starts from, with an operator that nothing disturbs. */
export async function prepare(bundle: string, place: Place, scenario: RealScenario): Promise<void> {
  const { before } = scenario;
  if (isDeepStrictEqual(place.spec, before)) return;
  if (place.spec !== undefined || before === undefined) throw new Error(`${place.namespace} is used already`);
  const { operator } = undisturbed(bundle, place);
  try {
    await operator.start();
    await place.create(before);
    await place.cluster.whole({ data: before.replicas ?? 3, sentinels: 3 }, { withinMs: patienceMs });
    place.spec = before;
  } finally {
    await operator.stop();
  }
}

function undisturbed(bundle: string, place: Place): { readonly operator: Operator } {
  const nothing = (): undefined => undefined;
  const wire = createWire({ clock, faults: [], crash: nothing, begin: nothing, touch: async () => undefined });
  return { operator: createOperator({ ...place, bundle, clock, wire, witness: createWitness(clock) }) };
}

export async function run(bundle: string, place: Place, plan: Plan): Promise<Evidence> {
  const scenario = scenarioOf(plan);
  await prepare(bundle, place, scenario);
  const { cluster, client, namespace, chronicle } = place;
  const complaints: string[] = [];
  const afflictions: Promise<void>[] = [];
  const unhappened: string[] = [];
  let deposed: Evidence['deposed'];
  let over = false;

  const wire: Wire = createWire({
    clock,
    faults: plan.faults,
    crash(life) {
      operator.crash(life);
      // Every other run does not wait until the lease of the dead process has run out.
      if (plan.seed % 2 === 0) afflictions.push(freeLease(place));
    },
    begin(fault) {
      if (over) return;
      const work = afflict(place, operator, fault).catch((error: Error) => {
        unhappened.push(`${JSON.stringify(fault)}: ${error.message}`);
      });
      if (fault.do === 'loseLease') deposed = { life: operator.lives.at(0)?.id ?? 1, at: clock.monotonic() };
      afflictions.push(work);
    },
    touch: (request) => touch(place, request),
    version: chronicle.version,
    past: ({ path, query }, version) =>
      chronicle.objectsAt(version, targetOf(path).resource).filter(labelSelector(query?.labelSelector)),
  });
  const witness = createWitness(clock);
  const operator = createOperator({ ...place, bundle, clock, wire, witness });
  let ledger: Ledger | undefined;
  let guard: ReturnType<typeof guardEndpoints> | undefined;
  try {
    await operator.start();
    await operator.leading();
    // Another process, which takes over when the first has lost its lease.
    if (plan.faults.some((fault) => fault.do === 'loseLease')) await operator.start();
    if (scenario.written) {
      const entrance = await cluster.entrance();
      guard = guardEndpoints({ client, namespace, name: cluster.name, password: entrance.password });
      ledger = openLedger({ entrance, writers, pauseMs, run: `${plan.scenario}-${plan.class ?? 'F0'}-${Date.now()}` });
      await acknowledged(ledger, warmUp);
    }
    const firstHappening = chronicle.happenings.length;
    const firstWrite = witness.writes.length;
    const foreseenBefore = (await readForesight(place.foresight.file)).length;
    const beganAt = clock.monotonic();
    wire.arm();
    place.spec = 'spoilt';
    const check = (): Promise<void> => scenario.check(place);
    const restless: string[] = [];
    try {
      await scenario.act(place);
      await until(scenario.title, check, { withinMs: patienceMs, everyMs: 250 });
      await faultsOver(wire, plan, beganAt, afflictions);
      await until(`${scenario.title}, after all faults`, check, { withinMs: patienceMs, everyMs: 250 });
      restless.push(...(await quiet(() => changes(witness.writes).map(wordsOf))));
      await until(`${scenario.title}, still`, check, { withinMs: 10_000, everyMs: 250 });
      if (ledger !== undefined) await acknowledged(ledger, warmUp);
    } catch (error) {
      complaints.push(error instanceof Error ? error.message : String(error));
    }
    const durationMs = clock.monotonic() - beganAt;
    over = true;
    wire.disarm();
    unhappened.push(...notHappened(wire, plan));
    const objects = chronicle.objects();
    const found = await cluster.object().catch((error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const view = found === undefined || scenario.after === undefined ? undefined : await cluster.view();
    const [ledgerReport, guardReport] = [
      await ledger?.close().catch((error: Error) => {
        complaints.push(`the ledger cannot be read: ${error.message}`);
        return undefined;
      }),
      await guard?.close(),
    ];
    ledger = undefined;
    guard = undefined;
    await operator.stop();
    const password = await cluster.password();
    const evidence: Evidence = {
      plan,
      unhappened,
      complaints,
      restless,
      writes: witness.writes.slice(firstWrite),
      forbidden: witness.forbidden,
      deposed,
      lives: operator.lives,
      happenings: chronicle.happenings.slice(firstHappening),
      deletionPolicy: String((scenario.before ?? scenario.after)?.deletionPolicy ?? 'Retain'),
      state: endStateOf(objects),
      cluster: view === undefined ? undefined : found,
      primary: view === undefined ? undefined : primaryIn(view),
      foresight: (await readForesight(place.foresight.file)).slice(foreseenBefore),
      ledger: ledgerReport,
      guard: guardReport,
      secrets: [password, Buffer.from(password).toString('base64')],
      texts: {
        'the log': await operator.printed(),
        events: JSON.stringify(await listAll(client, events, namespace)),
        ...Object.fromEntries(
          objects
            .filter(({ kind }) => kind !== 'Secret')
            .map((object) => [`${object.kind}/${object.metadata.name}`, JSON.stringify(object)]),
        ),
      },
      durationMs,
    };
    if (complaints.length === 0) place.spec = scenario.after ?? 'spoilt';
    return evidence;
  } finally {
    ledger?.stop();
    await guard?.close();
    await operator.stop();
  }
}

async function acknowledged(ledger: Ledger, count: number): Promise<void> {
  const goal = ledger.acknowledged + count;
  await until(
    `${count} writes acknowledged`,
    () => {
      if (ledger.acknowledged < goal) throw new Error(`${ledger.acknowledged} of ${goal}`);
    },
    { withinMs: 30_000 },
  );
}

/** Resolves with nothing once nothing was written for a while; with what was written last when it goes on and on. */
async function quiet(writes: () => readonly string[]): Promise<readonly string[]> {
  const deadline = clock.monotonic() + quietPatienceMs;
  let seen = writes().length;
  let since = clock.monotonic();
  while (clock.monotonic() - since < quietMs) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = writes();
    if (now.length !== seen) {
      seen = now.length;
      since = clock.monotonic();
    }
    if (clock.monotonic() > deadline) return now.slice(-10);
  }
  return [];
}

/** Waits for the end of what the plan has begun, in the world and on the wire. */
async function faultsOver(
  wire: Wire,
  plan: Plan,
  beganAt: number,
  afflictions: readonly Promise<void>[],
): Promise<void> {
  await Promise.all(afflictions);
  const ends = plan.faults.map((fault) => {
    const at = beginning(wire, fault, beganAt);
    return at === undefined || !('forMs' in fault) ? 0 : at + (fault.forMs ?? 0);
  });
  const left = Math.max(0, ...ends) - clock.monotonic();
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
}

/** When a fault began, as milliseconds of the clock; undefined: it has not. */
function beginning(wire: Wire, fault: Fault, beganAt: number): number | undefined {
  if ('at' in fault && 'ms' in fault.at) return beganAt + fault.at.ms;
  const write = writeOf(fault);
  if (write === undefined || write === 0) return beganAt;
  return wire.entries.find((entry) => entry.write === write)?.at;
}

function notHappened(wire: Wire, plan: Plan): readonly string[] {
  return plan.faults
    .filter((fault) => (writeOf(fault) ?? 0) > wire.writes)
    .map((fault) => `${JSON.stringify(fault)}: there were ${wire.writes} writes`);
}

/** Somebody else sets an annotation of the object that is about to be written. */
async function touch({ admin }: Place, { path, method }: TransportRequest): Promise<void> {
  if (method === 'POST') return;
  await admin.request({
    method: 'PATCH',
    path: path.replace(/\/status$/, ''),
    query: { fieldManager: 'somebody-else' },
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { annotations: { 'example.com/touched': String(Date.now()) } } }),
  });
}
