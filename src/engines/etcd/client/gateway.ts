/**
 * etcd's API through the JSON gateway that every member has on its client port: one call, one connection, bounded.
 *
 * Nothing is repeated here. A call that failed may have been carried out; what came of it is asked afterwards (safety
 * rule E5).
 */
import { shortened } from '../../../api/bounds.ts';
import type { EngineContext, TlsMaterial } from '../../../engine/engine-context.ts';
import { within } from '../../../engine/within.ts';
import { clientPort } from '../names.ts';

/** Time in which a process must answer a question. */
export const answerTimeoutMs = 1000;
/** Time in which a change of the membership must be agreed on: an election may lie in between. */
export const changeTimeoutMs = 5000;

/** The member answered, and refused. */
export class EtcdRefusal extends Error {
  override readonly name = 'EtcdRefusal';
  /** As in gRPC: 14 is "unavailable". */
  readonly code: number;
  constructor(message: string, code: number) {
    super(shortened(message));
    this.code = code;
  }
}

/** What this side shows of itself. */
export interface Proof {
  readonly token?: string;
  readonly tls?: TlsMaterial;
}

/** The answer's fields; a field with its type's zero value is absent. */
export type Answer = Readonly<Record<string, unknown>>;

/** Calls `/v3/PATH`. Rejects with EtcdRefusal, Unanswered, or with whatever kept the answer from arriving. */
export async function callEtcd(
  io: EngineContext,
  address: string,
  path: string,
  body: object,
  timeoutMs: number = answerTimeoutMs,
  proof: Proof = {},
): Promise<Answer> {
  const request = {
    host: address,
    port: clientPort,
    method: 'POST',
    path: `/v3/${path}`,
    body: JSON.stringify(body),
    ...(proof.token === undefined ? {} : { headers: { authorization: proof.token } }),
    ...(proof.tls === undefined ? {} : { tls: proof.tls }),
  } as const;
  const { status, body: text } = await within(io, timeoutMs, `${address} (${path})`, (signal) =>
    io.exchange({ ...request, signal }),
  );
  return answerOf(address, path, status, text);
}

/** Longer than any number, name, URL or token of etcd's: what is not etcd's is not passed on, in a status for example. */
const tooLongText = /"(?:[^"\\]|\\.){2049}/;

function answerOf(address: string, path: string, status: number, text: string): Answer {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${address} answered ${path} with status ${status}: ${text.trim().slice(0, 120)}`, { cause });
  }
  if (status === 200 && tooLongText.test(text))
    throw new Error(`${address} answered ${path} with a text that is too long`);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw new Error(`${address} answered ${path} with no object`);
  }
  const fields = answer as Answer;
  if (status === 200) return fields;
  throw new EtcdRefusal(String(fields.message ?? fields.error ?? `status ${status}`), Number(fields.code ?? 2));
}
