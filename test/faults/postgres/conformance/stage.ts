/**
 * Where a conversation with PostgreSQL under Patroni takes place: with real processes or with simulated ones. Members have the
 * numbers 0, 1 and 2; each has an address and a volume of its own. The operator's ConfigMaps and the pods are in the simulated API
 * server on both stages, and the pods may do there what their Role allows.
 */
import type { HttpRequest } from '../../../../src/engine/engine-context.ts';
import type { Question } from '../../../../src/engines/postgres/client/question.ts';
import type { Start } from '../../../../src/engines/postgres/resources/roster.ts';
import type { Part } from '../store.ts';

/** Of Patroni's REST API. `no answer`: also where the connection is refused. */
export type Heard = { readonly status: number; readonly text: string } | 'no answer';

export interface End {
  readonly code: number | null;
  readonly words: string;
}

export interface Stage {
  /** Starts its Patroni on the volume that it had. Does not wait for anything. */
  start(member: number, how?: Start): Promise<void>;
  call(member: number, method: HttpRequest['method'], path: string, body?: object): Promise<Heard>;
  /** As the operator, in the database `postgres`. A refusal is the SQLSTATE, and `no answer` all that is no answer. */
  ask<Row>(member: number, question: Question<Row>): Promise<readonly Row[] | string>;
  /** As the operator: the tag of the last command, a SQLSTATE, or `no answer`. */
  tell(member: number, sql: string): Promise<string>;
  /** As an owner who logs in by password: `done`, or the SQLSTATE. */
  logIn(member: number, role: string, database: string, password: string): Promise<string>;
  /** A client's row; false where it was not acknowledged within two seconds. */
  write(member: number, key: string): Promise<boolean>;
  /** Keys of the rows that a query on this member sees. */
  keys(member: number): Promise<readonly string[]>;
  /** Annotations of one of Patroni's ConfigMaps; undefined where it is gone. */
  state(part: Part): Readonly<Record<string, string>> | undefined;
  /** Somebody deletes it. */
  discard(part: Part): Promise<void>;
  /** What the role label of the pod says. */
  label(member: number): string | undefined;
  /** The whole container, as by SIGKILL. */
  kill(member: number): Promise<void>;
  /** As the kubelet: SIGTERM. Resolves when it has ended. */
  terminate(member: number): Promise<void>;
  /** Everything on its volume is gone. */
  wipe(member: number): Promise<void>;
  /** Resolves when its process has ended by itself. */
  ended(member: number): Promise<End>;
  pause(ms: number): Promise<void>;
  /** Asks until the answer is yes. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
  close(): Promise<void>;
}

/** A client waits for an acknowledgement for as long. */
export const writeMs = 2_000;
