/**
 * The operator's only way to the world, with the faults of a plan in it.
 *
 * It sits where the network is: between the shipped controller and whatever answers it, a simulated Kubernetes or a real
 * one. It numbers the writes, carries out the faults that concern requests and watches, and keeps a record of both. What
 * happens to the world itself (a killed process, a changed spec) it only announces, at the right moment.
 *
 * A life is one process of the operator. Nothing that a dead life sends arrives, and nothing reaches it.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { ApiUnreachable } from '../../../src/runtime/api-error.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/runtime/transport.ts';
import { type Clock, sleep } from '../../../src/system/clock.ts';
import type { Dial } from '../../../src/system/dial.ts';
import { type Fault, type Moment, writeOf } from '../plan.ts';
import { type CommandFate, isCall, observedDial, type ReplyFate } from './command.ts';
import { framesOf, type Gate, type GateEnd, gateOf } from './gate.ts';
import { isNumbered, targetOf, verbOf } from './request.ts';
import { refusal } from './status.ts';

export interface Life {
  readonly id: number;
  dead: boolean;
  /** It stands still until then: what arrives for it waits. Milliseconds of the wire's clock. */
  pausedUntil?: number;
}

/** One request or command of the operator, and what became of it. */
export interface WireEntry {
  readonly life: number;
  /** When it was sent. */
  readonly at: number;
  /** How many requests were sent before it: several may be sent at one moment of virtual time. */
  readonly order: number;
  /** `patch`, or `command` for a database process. */
  readonly verb: string;
  /** A path, or `REPLICAOF at 10.1.0.3:6379`. */
  readonly what: string;
  readonly request?: TransportRequest;
  /** Its number, if it is a write that was committed within the scenario. */
  write?: number;
  /** Undefined while it is on its way, or when no answer came. */
  status?: number;
  /** Where the wire answered instead of the server. */
  byFault?: boolean;
}

export interface WireOptions {
  readonly clock: Clock;
  readonly faults: readonly Fault[];
  /** The process whose write it was ends now. */
  readonly crash: (life: Life) => void;
  /** A fault that is not the wire's own begins. */
  readonly begin: (fault: Fault) => void;
  /** Somebody else changes the object of this request. */
  readonly touch: (request: TransportRequest) => Promise<void>;
  /** What a server that is behind shows: objects of a collection as of a version. Only where the past can be had. */
  readonly past?: (request: TransportRequest, version: number) => readonly KubeObject[];
  readonly version?: () => number;
}

export interface Wire {
  transport(life: Life, inner: Transport): Transport;
  dial(life: Life, inner: Dial): Dial;
  /** The scenario begins: from now on writes are numbered and faults happen. */
  arm(): void;
  /** The scenario and its faults are over: what holds things up lets go. */
  disarm(): void;
  readonly writes: number;
  /** When the last fault that has begun is over, as far as its plan says. */
  readonly faultyUntil: number;
  /** What the operator has yet to notice or to give up: refusals to come, watches that hang, requests whose answer is lost. */
  readonly unnoticed: readonly string[];
  readonly entries: readonly WireEntry[];
}

interface Window {
  readonly fault: Fault;
  readonly until: number;
}

class Dead extends Error {
  override readonly name = 'Dead';
}

/** Client's default patience with one request. */
const patienceMs = 60_000;
/** Longer than a leader goes on without a renewal, and than its lease lasts. */
export const leaselessMs = 20_000;

function lengthOf(fault: Fault): number {
  if (fault.do === 'loseLease') return leaselessMs;
  return 'forMs' in fault ? (fault.forMs ?? 0) : 0;
}

export function createWire(options: WireOptions): Wire {
  const { clock, faults } = options;
  const entries: WireEntry[] = [];
  const gates = new Set<Gate>();
  const unanswered = new Set<WireEntry>();
  const windows: Window[] = [];
  const spent = new Map<Fault, number>();
  const begun = new Set<Fault>();
  /** Per resource, how the next attempts to watch are turned away. */
  const turnedAway = new Map<string, { status: 410 | 504; times: number }>();
  let armed = false;
  let writes = 0;
  let faultyUntil = 0;
  let frozenAt:
    | { readonly version: number; readonly resources: readonly string[] | 'all'; readonly until: number }
    | undefined;
  let thawed: () => void = () => undefined;
  let thaw = Promise.resolve();

  const concerns = (resources: readonly string[] | 'all', resource: string): boolean =>
    resources === 'all' || resources.includes(resource);
  const gatesOf = (resources: readonly string[] | 'all'): Gate[] =>
    [...gates].filter((gate) => concerns(resources, gate.resource));
  const active = (fault: Fault): boolean =>
    armed && windows.some((window) => window.fault === fault && clock.monotonic() < window.until);
  const once = (fault: Fault, times = 1): boolean => {
    const used = spent.get(fault) ?? 0;
    if (used >= times) return false;
    spent.set(fault, used + 1);
    return true;
  };

  function start(fault: Fault): void {
    if (begun.has(fault)) return;
    begun.add(fault);
    faultyUntil = Math.max(faultyUntil, clock.monotonic() + lengthOf(fault));
    switch (fault.do) {
      case 'errors':
      case 'deny':
        windows.push({ fault, until: clock.monotonic() + fault.forMs });
        return;
      case 'loseLease':
        if (fault.how === 'unrenewed') windows.push({ fault, until: clock.monotonic() + leaselessMs });
        else options.begin(fault);
        return;
      case 'apiDown':
        windows.push({ fault, until: clock.monotonic() + fault.forMs });
        for (const gate of gates) gate.end('reset');
        options.begin(fault);
        return;
      case 'freezeView':
      case 'skipVersions':
        holdWatches(fault);
        if (fault.do === 'freezeView' && fault.restart) options.begin(fault);
        return;
      case 'replayEvents':
        for (const gate of gatesOf(fault.resources)) gate.replay(fault.count);
        return;
      case 'endWatch':
        for (const gate of gatesOf(fault.resources)) gate.end(fault.how);
        return;
      case 'expire':
        options.begin(fault);
        for (const gate of gatesOf(fault.resources)) {
          const end: GateEnd = fault.how === 'event' ? 'expire' : 'close';
          if (fault.how !== 'event') {
            turnedAway.set(
              gate.resource,
              fault.how === 'status' ? { status: 410, times: 1 } : { status: 504, times: 2 },
            );
          }
          gate.end(end);
        }
        return;
      default:
        options.begin(fault);
    }
  }

  function holdWatches(fault: Extract<Fault, { do: 'freezeView' | 'skipVersions' }>): void {
    const held = gatesOf(fault.resources);
    for (const gate of held) gate.hold();
    const until = clock.monotonic() + fault.forMs;
    if (fault.do === 'freezeView' && fault.hard && options.version !== undefined) {
      frozenAt = { version: options.version(), resources: fault.resources, until };
      thaw = new Promise((resolve) => {
        thawed = resolve;
      });
    }
    clock.after(fault.forMs, () => {
      frozenAt = undefined;
      thawed();
      if (fault.do === 'skipVersions') options.begin(fault);
      for (const gate of held) gate.release(fault.do === 'freezeView' ? 'passed' : 'forgotten');
    });
  }

  function happensAt(moment: Moment): boolean {
    return 'write' in moment && moment.write === writes;
  }

  /** The write with the next number was committed. False when its maker does not live on. */
  function committed(life: Life, entry: WireEntry): boolean {
    if (!armed) return true;
    entry.write = ++writes;
    for (const fault of faults) {
      if ('at' in fault && happensAt(fault.at)) start(fault);
      if (fault.do === 'crash' && fault.when === 'after' && fault.write === writes) options.crash(life);
    }
    return !life.dead;
  }

  /** What stands between a write and the server: an answer of the wire's own, or nothing. */
  async function beforeWrite(life: Life, request: TransportRequest): Promise<TransportResponse<string> | undefined> {
    const next = writes + 1;
    for (const fault of faults) {
      if (writeOf(fault) !== next) continue;
      if (fault.do === 'crash' && fault.when === 'before' && once(fault)) options.crash(life);
      if (fault.do === 'touchBefore' && once(fault)) await options.touch(request);
      if (fault.do === 'refuse' && once(fault, fault.times)) return refusal(fault.status, fault.retryAfterS);
    }
    return undefined;
  }

  /** Rejects, or answers, what cannot get through right now. */
  function inTheWay(request: TransportRequest): TransportResponse<string> | undefined {
    const { resource } = targetOf(request.path);
    for (const fault of faults) {
      if (!active(fault)) continue;
      if (fault.do === 'apiDown') throw new ApiUnreachable(request.method, request.path, false, new Error('refused'));
      if (fault.do === 'errors' && concerns(fault.resource === 'all' ? 'all' : [fault.resource], resource)) {
        return refusal(fault.status);
      }
      if (fault.do === 'loseLease' && resource === 'leases') return refusal(500);
      if (fault.do === 'deny' && fault.resource === resource && isNumbered(request)) return refusal(fault.status);
    }
    return undefined;
  }

  async function exchange(
    life: Life,
    inner: Transport,
    request: TransportRequest,
    entry: WireEntry,
  ): Promise<TransportResponse<string>> {
    const own = (response: TransportResponse<string>): TransportResponse<string> => {
      entry.byFault = true;
      entry.status = response.status;
      return response;
    };
    const obstacle = inTheWay(request);
    if (obstacle !== undefined) return own(obstacle);
    const numbered = isNumbered(request);
    if (numbered && armed) {
      const answer = await beforeWrite(life, request);
      if (life.dead) throw new Dead('this operator is dead');
      if (answer !== undefined) return own(answer);
    }
    const stale = staleList(request);
    if (stale !== undefined) return own(stale);
    const response = await inner.request(request);
    if (life.dead) throw new Dead('this operator is dead');
    if (numbered && response.status < 300) {
      if (!committed(life, entry)) throw new Dead('this operator is dead');
      await answerLost(request, entry);
    }
    entry.status = response.status;
    return response;
  }

  /** Rejects when the plan loses the answer to this write. */
  async function answerLost(request: TransportRequest, entry: WireEntry): Promise<void> {
    const fault = faults.find((f) => f.do === 'loseAnswer' && f.write === entry.write && once(f));
    if (fault?.do !== 'loseAnswer') return;
    entry.byFault = true;
    if (fault.how === 'timeout') {
      unanswered.add(entry);
      await sleep(clock, request.timeoutMs ?? patienceMs, request.signal).finally(() => unanswered.delete(entry));
    }
    throw new ApiUnreachable(request.method, request.path, true, new Error('the answer was lost'));
  }

  function isFrozen(request: TransportRequest): boolean {
    return (
      frozenAt !== undefined &&
      clock.monotonic() < frozenAt.until &&
      concerns(frozenAt.resources, targetOf(request.path).resource)
    );
  }

  function staleList(request: TransportRequest): TransportResponse<string> | undefined {
    if (!isFrozen(request) || frozenAt === undefined || verbOf(request) !== 'list') return undefined;
    const items = options.past?.(request, frozenAt.version) ?? [];
    const metadata = { resourceVersion: String(frozenAt.version) };
    return { status: 200, headers: {}, body: JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata, items }) };
  }

  /** The frames of a watch that begins while the view is frozen: the past first, then what comes once it thaws. */
  async function* staleWatch(inner: Transport, request: TransportRequest, version: number): AsyncGenerator<string> {
    const items = options.past?.(request, version) ?? [];
    const { apiVersion = 'v1', kind = 'Status' } = items[0] ?? {};
    const metadata = { resourceVersion: String(version), annotations: { 'k8s.io/initial-events-end': 'true' } };
    for (const object of items) yield JSON.stringify({ type: 'ADDED', object });
    yield JSON.stringify({ type: 'BOOKMARK', object: { apiVersion, kind, metadata } });
    await thaw;
    const { sendInitialEvents: _, resourceVersionMatch: __, ...query } = request.query ?? {};
    const response = await inner.stream({ ...request, query: { ...query, resourceVersion: String(version) } });
    yield* framesOf(response.body);
  }

  async function open(
    life: Life,
    inner: Transport,
    request: TransportRequest,
    entry: WireEntry,
  ): Promise<TransportResponse<AsyncIterable<Uint8Array>>> {
    const { resource } = targetOf(request.path);
    const obstacle = inTheWay(request) ?? turnAway(resource);
    if (obstacle !== undefined) {
      entry.byFault = true;
      entry.status = obstacle.status;
      return { ...obstacle, body: onePiece(obstacle.body) };
    }
    const isStale = isFrozen(request) && request.query?.sendInitialEvents === 'true';
    const response = isStale ? undefined : await inner.stream(request);
    entry.status = response?.status ?? 200;
    if (response !== undefined && response.status >= 300) return response;
    const frames =
      response === undefined ? staleWatch(inner, request, frozenAt?.version ?? 0) : framesOf(response.body);
    const delay = faults.find((fault) => fault.do === 'delayWatch' && fault.resource === resource);
    const { gate, body } = gateOf(frames, {
      resource,
      path: request.path,
      clock,
      delayMs: delay?.do === 'delayWatch' ? delay.ms : 0,
      pausedMs: () => (life.pausedUntil ?? 0) - clock.monotonic(),
      signal: request.signal,
    });
    gates.add(gate);
    return { status: 200, headers: response?.headers ?? {}, body: registered(body, () => gates.delete(gate)) };
  }

  function turnAway(resource: string): TransportResponse<string> | undefined {
    const pending = turnedAway.get(resource);
    if (pending === undefined || pending.times-- <= 0) return undefined;
    return refusal(pending.status);
  }

  function record(life: Life, verb: string, what: string, request?: TransportRequest, at?: number): WireEntry {
    const entry: WireEntry = {
      life: life.id,
      at: at ?? clock.monotonic(),
      order: entries.length,
      verb,
      what,
      ...(request === undefined ? {} : { request }),
    };
    entries.push(entry);
    return entry;
  }

  /** The reply to a command is back. Whether it was carried out is known only now, where it can be refused. */
  function answered(life: Life, entry: WireEntry, wasRefused: boolean): ReplyFate {
    if (wasRefused) return life.dead ? 'dead' : 'heard';
    if (!committed(life, entry)) return 'dead';
    const isLost = faults.some((fault) => fault.do === 'loseReply' && fault.write === entry.write && once(fault));
    if (isLost) entry.byFault = true;
    return isLost ? 'lost' : 'heard';
  }

  function sending(life: Life, command: string): CommandFate {
    for (const fault of faults) {
      if (!armed || writeOf(fault) !== writes + 1) continue;
      if (fault.do === 'crash' && fault.when === 'before' && once(fault)) {
        options.crash(life);
        return 'dead';
      }
      // Only its reply tells whether a call of etcd was carried out.
      if (fault.do === 'loseReply' && fault.how === 'afterEffect' && isCall(command)) continue;
      if (fault.do === 'loseReply' && once(fault)) return fault.how === 'before' ? 'dropped' : 'unanswered';
    }
    return 'sent';
  }

  return {
    transport: (life, inner) => ({
      async request(request) {
        if (life.dead) throw new Dead('this operator is dead');
        return exchange(life, inner, request, record(life, verbOf(request), request.path, request));
      },
      async stream(request) {
        if (life.dead) throw new Dead('this operator is dead');
        return open(life, inner, request, record(life, 'watch', request.path, request));
      },
      close: () => inner.close(),
    }),
    dial: (life, inner) =>
      observedDial(inner, {
        isDead: () => life.dead,
        pausedMs: () => (life.pausedUntil ?? 0) - clock.monotonic(),
        clock,
        sending: (command) => sending(life, command),
        answered: (command, place, sentAt, wasRefused) => {
          const verb = wasRefused ? 'refused' : 'command';
          return answered(life, record(life, verb, `${command} at ${place}`, undefined, sentAt), wasRefused);
        },
      }),
    arm() {
      armed = true;
      for (const fault of faults) {
        if (!('at' in fault)) continue;
        if ('ms' in fault.at) clock.after(fault.at.ms, () => armed && start(fault));
        else if (fault.at.write === 0) start(fault);
      }
    },
    disarm() {
      armed = false;
    },
    get writes() {
      return writes;
    },
    get faultyUntil() {
      return faultyUntil;
    },
    get unnoticed() {
      const hanging = [...gates].filter(({ hangs }) => hangs);
      const refusing = [...turnedAway].filter(([, { times }]) => times > 0);
      return [
        ...refusing.map(([resource]) => `a watch of ${resource} is to be turned away, and has not been opened yet`),
        ...hanging.map(({ resource }) => `the watch of ${resource} hangs, and nobody has noticed`),
        ...[...unanswered].map(({ verb, what }) => `${verb} ${what} has no answer, and is still waited for`),
      ];
    },
    entries,
  };
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function* registered(body: AsyncGenerator<Uint8Array>, done: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    done();
  }
}
