/**
 * The operator's commands to database processes, numbered together with its requests.
 *
 * A command counts when its reply arrives, or would arrive; one that etcd refuses has changed nothing and does not count.
 * A command can be lost on its way there or back; the connection then stays silent, as when packets are dropped.
 */
import { Duplex } from 'node:stream';
import type { Clock } from '../../../src/system/clock.ts';
import type { Dial } from '../../../src/system/dial.ts';

/** Commands by which a Redis process changes. */
const changing =
  /\r\n(REPLICAOF|ACL\r\n\$\d+\r\n(?:SETUSER|DELUSER)|CONFIG\r\n\$\d+\r\nSET|CLIENT\r\n\$\d+\r\n(?:PAUSE|UNPAUSE)|SENTINEL\r\n\$\d+\r\n(?:MONITOR|REMOVE|SET|RESET|FAILOVER))\r\n/;

/** Calls by which an etcd changes. */
const changingCall =
  /^POST \/v3\/(cluster\/member\/(?:add|promote|remove)|maintenance\/(?:transfer-leadership|defragment)|kv\/compaction|auth\/(?:user\/\w+|enable|disable)|maintenance\/alarm(?=[\s\S]*"DEACTIVATE")|maintenance\/downgrade(?=[\s\S]*"(?:ENABLE|CANCEL)")) /;

/** Calls by which a Patroni changes. */
const changingPatroni = /^(PATCH|POST) \/(config|switchover|restart|reinitialize|failover) /;

/** Statements by which a PostgreSQL changes: a message of its protocol. */
const changingStatement = /^Q[\s\S]{4}(CREATE ROLE|ALTER ROLE|CREATE DATABASE|GRANT) /;

/** `CONFIG SET`, `REPLICAOF`, `cluster/member/add`; undefined for a command that changes nothing. */
export function changingCommand(chunk: Uint8Array): string | undefined {
  const text = Buffer.from(chunk).toString('latin1');
  const patroni = changingPatroni.exec(text)?.[2];
  if (patroni !== undefined) return `patroni/${patroni}`;
  const statement = changingStatement.exec(text)?.[1];
  if (statement !== undefined) return `sql/${statement}`;
  return changingCall.exec(text)?.[1] ?? changing.exec(text)?.[1]?.replace(/\r\n\$\d+\r\n/, ' ');
}

/** A sentinel is told its users right after `SENTINEL SET`, which counts already. */
function countedCommand(chunk: Uint8Array, place: string): string | undefined {
  const command = changingCommand(chunk);
  return command === 'ACL SETUSER' && place.endsWith(':26379') ? undefined : command;
}

/** A call of etcd's or Patroni's, or a statement: not a command of Redis'. */
export const isCall = (command: string): boolean => command.includes('/');

/** Whether the reply says that it was refused. Redis' commands are not looked at: they are done as often as not. */
const isRefusal = (reply: Uint8Array): boolean =>
  /^(HTTP\/1\.[01] [345]|E\0)/.test(Buffer.from(reply).toString('latin1'));

/** What becomes of a command: `dropped` never arrives, `unanswered` is carried out. */
export type CommandFate = 'sent' | 'dropped' | 'unanswered' | 'dead';

/** What becomes of its reply: `lost` on its way, or there is nobody any more to hear it. */
export type ReplyFate = 'heard' | 'lost' | 'dead';

export interface CommandObserver {
  /** Before it is sent. */
  sending(command: string, place: string): CommandFate;
  /** Its reply has arrived at the operator's machine. */
  answered(command: string, place: string, sentAt: number, wasRefused: boolean): ReplyFate;
  readonly isDead: () => boolean;
  /** Milliseconds for which the operator stands still from now on. */
  readonly pausedMs: () => number;
  readonly clock: Clock;
}

/** Dials like the given function, with every changing command reported. */
export function observedDial(dial: Dial, observer: CommandObserver): Dial {
  return async (host, port, signal) => {
    if (observer.isDead()) throw new Error('this operator is dead');
    return observed(await dial(host, port, signal), `${host}:${port}`, observer);
  };
}

function observed(inner: Duplex, place: string, observer: CommandObserver): Duplex {
  const unanswered: { readonly command: string; readonly sentAt: number }[] = [];
  let silent = false;
  const outer = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      if (observer.isDead()) return done(new Error('this operator is dead'));
      const command = countedCommand(chunk, place);
      const fate = command === undefined ? 'sent' : observer.sending(command, place);
      if (fate === 'dead') return done(new Error('this operator is dead'));
      if (fate !== 'sent') silent = true;
      else if (command !== undefined) unanswered.push({ command, sentAt: observer.clock.monotonic() });
      if (fate !== 'dropped') inner.write(chunk);
      if (fate === 'unanswered' && command !== undefined) {
        observer.answered(command, place, observer.clock.monotonic(), false);
      }
      done();
    },
    final(done) {
      inner.end();
      done();
    },
    destroy(error, done) {
      inner.destroy();
      done(error);
    },
  });
  const whenRunning = (call: () => void): void => {
    const pause = observer.pausedMs();
    if (pause > 0) observer.clock.after(pause, call);
    else call();
  };
  const arrive = (chunk: Buffer): void => {
    const sent = unanswered.shift();
    const unasked = observer.isDead() ? 'dead' : 'heard';
    const fate = sent === undefined ? unasked : observer.answered(sent.command, place, sent.sentAt, isRefusal(chunk));
    if (fate === 'lost') silent = true;
    if (fate === 'dead') outer.destroy(new Error('this operator is dead'));
    else if (!silent) whenRunning(() => outer.push(chunk));
  };
  inner.on('data', (chunk: Buffer) => {
    whenRunning(() => arrive(chunk));
  });
  inner.on('end', () => whenRunning(() => outer.push(null)));
  inner.on('error', (error) => whenRunning(() => outer.destroy(error)));
  inner.on('close', () => whenRunning(() => outer.destroy()));
  return outer;
}
