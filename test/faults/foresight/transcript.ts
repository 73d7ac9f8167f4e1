/**
 * What the operator and the database processes said to each other, byte by byte, and the same said again to whoever asks
 * the same. So a plan can be made a second time from exactly what it was made from, without asking anybody anything.
 */
import { Duplex } from 'node:stream';
import type { EngineContext } from '../../../src/engine/engine-context.ts';
import type { Clock } from '../../../src/system/clock.ts';
import type { Dial } from '../../../src/system/dial.ts';
import { fingerprintOf, secured } from '../../../src/system/secured.ts';

type Event = { readonly at: number } & (
  | { readonly way: 'out'; readonly bytes: Buffer }
  | { readonly way: 'in'; readonly bytes: Buffer }
  | { readonly way: 'end' }
  | { readonly way: 'failure'; readonly error: Error }
);

export interface Connection {
  readonly host: string;
  readonly port: number;
  /** Undefined while it is being made, and where nobody ever answered. */
  outcome?: { readonly at: number; readonly refusal?: Error };
  readonly events: Event[];
  /** Fingerprint of the certificate that was shown, where the connection was secured. */
  shown?: string | undefined;
}

/** Dials like the given function, and keeps each connection, in the order in which they were asked for, where somebody wants it. */
export function tapped(dial: Dial, keptIn: () => Connection[] | undefined, now: () => number): Dial {
  return async (host, port, signal) => {
    const connections = keptIn();
    if (connections === undefined) return dial(host, port, signal);
    const connection: Connection = { host, port, events: [] };
    connections.push(connection);
    try {
      const socket = await dial(host, port, signal);
      connection.outcome = { at: now() };
      return tap(socket, connection.events, now, connection);
    } catch (error) {
      if (!signal.aborted) connection.outcome = { at: now(), refusal: error as Error };
      throw error;
    }
  };
}

/** What is kept of a socket. When it is secured, what is said within is kept in its place. */
interface Tap {
  readonly events: Event[];
  isSecured: boolean;
  readonly connection?: Connection | undefined;
}

const taps = new WeakMap<Duplex, Tap>();

/** Puts TLS on a connection as the engine does, and keeps what is said within, in the clear. */
export function tappedWithin(
  secure: NonNullable<EngineContext['secure']> = secured,
  now: () => number,
): NonNullable<EngineContext['secure']> {
  return async (stream, host, tls, signal) => {
    const kept = taps.get(stream);
    if (kept === undefined) return secure(stream, host, tls, signal);
    kept.isSecured = true;
    try {
      const within = await secure(stream, host, tls, signal);
      if (kept.connection !== undefined) kept.connection.shown = fingerprintOf(within);
      return tap(within, kept.events, now);
    } catch (error) {
      if (!signal.aborted) kept.events.push({ at: now(), way: 'failure', error: error as Error });
      throw error;
    }
  };
}

/** In place: one more stream in between would take time, and the run would be another one. */
function tap(socket: Duplex, kept: Event[], now: () => number, connection?: Connection): Duplex {
  const tapped: Tap = { events: kept, isSecured: false, connection };
  taps.set(socket, tapped);
  const events = { push: (event: Event): void => void (tapped.isSecured || kept.push(event)) };
  const write = socket._write.bind(socket);
  const push = socket.push.bind(socket);
  socket._write = (chunk: Buffer | string, encoding, done) => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    events.push({ at: now(), way: 'out', bytes });
    write(chunk, encoding, done);
  };
  // A socket of the system's takes several at once by another way.
  Object.defineProperty(socket, '_writev', { value: undefined });
  socket.once('close', () => {
    if (socket.errored !== null) events.push({ at: now(), way: 'failure', error: socket.errored });
  });
  socket.push = (chunk: unknown, encoding) => {
    events.push({
      at: now(),
      ...(chunk === null ? { way: 'end' } : { way: 'in', bytes: Buffer.from(chunk as Uint8Array) }),
    });
    return push(chunk, encoding);
  };
  return socket;
}

/**
 * Answers as those connections did, each of them once, and when they did: who hears of a thing first asks otherwise than
 * who hears of it last. What was not said is not answered.
 *
 * @param clock begins with the pass; `began` is when that was
 */
export function replayed(
  connections: readonly Connection[],
  clock: Pick<Clock, 'monotonic' | 'after'>,
  began: number,
): Dial {
  const dialled = [...connections];
  const unbound = new Set(connections);
  const then: Then = (at, call) => void clock.after(Math.max(0, at - began - clock.monotonic()), call);
  return (host, port, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      const isHere = (one: Connection): boolean => one.host === host && one.port === port;
      const next = dialled.findIndex(isHere);
      const [connection] = next < 0 ? [] : dialled.splice(next, 1);
      if (connection?.outcome === undefined) return;
      const { at, refusal } = connection.outcome;
      if (refusal !== undefined) return then(at, () => reject(refusal));
      const bind = (asked: Buffer, isSecured: boolean): readonly Event[] | undefined => {
        // Of several that ask the same, each is told what it was told.
        const found = [connection, ...unbound].find(
          (one) => unbound.has(one) && isHere(one) && isOpenedBy(opened(one.events, isSecured), asked),
        );
        if (found === undefined) return undefined;
        unbound.delete(found);
        return opened(found.events, isSecured);
      };
      const peerFingerprint =
        connection.shown ?? connections.find((one) => isHere(one) && one.shown !== undefined)?.shown;
      then(at, () => resolve(Object.assign(echo(bind, tlsAnswer(connection.events), then), { peerFingerprint })));
    });
}

type Then = (at: number, call: () => void) => void;

/** With these bytes PostgreSQL is asked for TLS, whoever asks: `SSLRequest` of its protocol. */
const sslRequest = Buffer.from('0000000804d2162f', 'hex');

/** The answer to that; undefined where a connection begins otherwise. */
function tlsAnswer([asked, answered]: readonly Event[]): Exclude<Event, { way: 'out' }> | undefined {
  const isAsked = asked?.way === 'out' && asked.bytes.equals(sslRequest);
  return isAsked && answered !== undefined && answered.way !== 'out' ? answered : undefined;
}

/** What shows which connection it is. */
const opened = (events: readonly Event[], isSecured: boolean): readonly Event[] =>
  isSecured && tlsAnswer(events) !== undefined ? events.slice(2) : events;

/** Which of them it is shows in what is asked before anything is answered, but that TLS is there. */
function echo(
  bind: (asked: Buffer, isSecured: boolean) => readonly Event[] | undefined,
  security: Exclude<Event, { way: 'out' }> | undefined,
  then: Then,
): Duplex {
  let rest: Event[] | undefined;
  let asked: Buffer = Buffer.alloc(0);
  let isSecured = false;
  const socket = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      asked = Buffer.concat([asked, chunk]);
      if (rest === undefined && security !== undefined && !isSecured && asked.equals(sslRequest)) {
        isSecured = true;
        asked = Buffer.alloc(0);
        then(security.at, () => say(socket, security));
        done();
        return;
      }
      rest ??= bind(asked, isSecured)?.slice();
      answer();
      done();
    },
  });
  const answer = (): void => {
    for (let next = rest?.[0]; next !== undefined; next = rest?.[0]) {
      if (next.way === 'out') {
        const { bytes } = next;
        if (!asked.subarray(0, bytes.length).equals(bytes)) return;
        asked = asked.subarray(bytes.length);
      } else {
        then(next.at, () => say(socket, next));
      }
      rest?.shift();
    }
  };
  return socket;
}

function say(socket: Duplex, said: Exclude<Event, { way: 'out' }>): void {
  switch (said.way) {
    case 'in':
      socket.push(said.bytes);
      return;
    case 'end':
      socket.push(null);
      return;
    case 'failure':
      socket.destroy(said.error);
      return;
    default:
      said satisfies never;
  }
}

/** All that was asked on it before the first answer, and perhaps more. */
function isOpenedBy(events: readonly Event[], asked: Buffer): boolean {
  const answered = events.findIndex(({ way }) => way !== 'out');
  const opening = events
    .slice(0, answered < 0 ? events.length : answered)
    .flatMap((event) => (event.way === 'out' ? [event.bytes] : []));
  const said = Buffer.concat(opening);
  return said.length > 0 && asked.subarray(0, said.length).equals(said);
}
