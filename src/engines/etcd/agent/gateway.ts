/** etcd's API through the JSON gateway of one member: calls with a short answer, and one whose answer is a stream. */
import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../../../backup/members.ts';
import type { AgentContext } from '../../../engine/driver/agent-context.ts';
import { openConnection, placeOf } from '../../../engine/driver/connection.ts';
import { Failure } from '../../../engine/driver/failure.ts';
import { type Ask, requestsOver } from '../../../engine/driver/requests-over.ts';
import { inTime, type Patience, piecesInTime } from '../../../engine/driver/wait.ts';
import type { TlsMaterial } from '../../../engine/engine-context.ts';
import { createLineSplitter } from '../../../system/line-splitter.ts';
import type { EtcdSource } from '../backup/schemas.ts';

/** The answer's fields; a field with its type's zero value is absent. 64-bit numbers are text. */
export type Answer = Readonly<Record<string, unknown>>;

/** The member answered, and refused. */
export class EtcdRefusal extends Error {
  override readonly name = 'EtcdRefusal';
}

/** One member, and what this side shows of itself. */
export interface Member {
  /** @param idleMs default: that of the surroundings */
  call(path: string, body: object, idleMs?: number): Promise<Answer>;
  /**
   * Each line of the answer. `first` is asked before on the same connection: the next connection to the same address may
   * lead to another member, as that of a Service does.
   */
  stream(path: string, body: object, first: Precondition): AsyncGenerator<Answer, void, undefined>;
}

export interface Question {
  readonly path: string;
  readonly body: object;
}

export interface Precondition extends Question {
  readonly idleMs: number;
  /** Throws where nothing more is to be asked over this connection. */
  check(answer: Answer): void;
}

export interface MemberOptions {
  readonly endpoint: Endpoint;
  readonly user: EtcdSource['user'];
  readonly password: string | undefined;
  readonly tls: TlsMaterial | undefined;
}

export function etcdMember({ endpoint, user, password, tls }: MemberOptions, context: AgentContext): Member {
  const place = placeOf(endpoint);
  let token: string | undefined;

  const late = (idleMs: number) => (): Failure =>
    new Failure('SourceUnreachable', `${place} sent nothing for ${idleMs} ms`);

  /** Of the answer to `question`, once the member has answered `first` over the same connection. */
  async function* lines(
    question: Question,
    patience: Patience,
    first?: Precondition,
  ): AsyncGenerator<Answer, void, undefined> {
    const socket = await openConnection(endpoint, tls, patience);
    const ask = requestsOver(socket);
    const linesOf = async function* ({ path, body }: Question, within: Patience): AsyncGenerator<Answer> {
      const splitter = createLineSplitter();
      const response = await inTime(respond(ask, path, JSON.stringify(body)), within, late(within.idleMs));
      for await (const piece of piecesInTime(response, within, late(within.idleMs), () => response.destroy())) {
        for (const line of splitter.push(piece)) yield answerOf(line, response.statusCode ?? 0);
      }
      // The gateway ends a line only where it streams.
      for (const line of splitter.push(Buffer.from('\n'))) yield answerOf(line, response.statusCode ?? 0);
    };
    try {
      if (first !== undefined) {
        for await (const answer of linesOf(first, { ...patience, idleMs: first.idleMs })) first.check(answer);
      }
      yield* linesOf(question, patience);
    } catch (error) {
      if (error instanceof Failure || error instanceof EtcdRefusal) throw error;
      throw new Failure('SourceBroken', `the connection to ${place} broke`, { cause: error });
    } finally {
      socket.destroy();
    }
  }

  function respond(ask: Ask, path: string, content: string): Promise<IncomingMessage> {
    return ask(`/v3/${path}`, content, {
      host: place,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(content)),
      ...(token === undefined ? {} : { authorization: token }),
    });
  }

  function answerOf(line: string, status: number): Answer {
    let answer: Answer;
    try {
      answer = JSON.parse(line) as Answer;
    } catch (cause) {
      throw new Failure('SourceBroken', `${place} answers with status ${status}, and with no JSON`, { cause });
    }
    const { error, message } = answer;
    if (status === 200 && error === undefined) return answer;
    const inner = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
    throw new EtcdRefusal(String(message ?? inner ?? `status ${status}`).slice(0, 200));
  }

  async function only(path: string, body: object, patience: Patience): Promise<Answer> {
    for await (const answer of lines({ path, body }, patience)) return answer;
    throw new Failure('SourceBroken', `${place} gives no answer`);
  }

  /** Says who is asking, where the member wants to know. */
  async function authenticated<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      // Who shows a certificate without a common name, and no token, is somebody without a permission.
      const unknown = token === undefined ? /user name is empty|permission denied/ : /invalid auth token/;
      if (!(error instanceof EtcdRefusal) || !unknown.test(error.message) || password === undefined) throw error;
      const { token: fresh } = await only('auth/authenticate', { name: user, password }, context);
      token = String(fresh);
      return await ask();
    }
  }

  return {
    call: (path, body, idleMs = context.idleMs) => authenticated(() => only(path, body, { ...context, idleMs })),
    async *stream(path, body, first) {
      // Begun anew where the member wants to know first who is asking.
      const begin = async () => {
        const answers = lines({ path, body }, context, first);
        return { answers, begun: await answers.next() };
      };
      const { answers, begun } = await authenticated(begin);
      if (begun.done) return;
      yield begun.value;
      yield* answers;
    },
  };
}

/** What passes by itself is not a refusal: no leader, too many requests, a member that is just stopping. */
export function etcdFailure(error: unknown, place: string): unknown {
  if (!(error instanceof EtcdRefusal)) return error;
  const isRefusal = /auth|permission|user|password|not supported|unimplemented/i.test(error.message);
  const reason = isRefusal ? 'SourceRefused' : 'SourceBroken';
  return new Failure(reason, `${place} refuses`, { cause: error });
}
