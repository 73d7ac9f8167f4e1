/**
 * A client of a simulated server: over a stream with the Redis protocol, or within this process where another model
 * asks. Servers see no difference.
 */
import type { Duplex } from 'node:stream';
import { RedisError, type Reply, ReplyDecoder } from '../../../src/engines/redis/client/resp.ts';
import { encodeReply } from '../../support/scripted-redis.ts';

export class Client {
  readonly from: string;
  isAuthenticated = false;
  /** As whom it has logged in. */
  user = 'default';
  /** The offset of its last write, which WAIT waits for. */
  offset = 0;
  /** Channels that it listens to. */
  readonly channels = new Set<string>();
  readonly #send: (reply: Reply) => void;
  readonly #hangUp: () => void;
  #isClosed = false;

  constructor(from: string, send: (reply: Reply) => void, hangUp: () => void) {
    this.from = from;
    this.#send = send;
    this.#hangUp = hangUp;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(reply: Reply): void {
    if (!this.#isClosed) this.#send(reply);
  }

  /** Ends the connection from the server's side. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hangUp();
  }

  /** The other side has ended it. */
  gone(): void {
    this.#isClosed = true;
  }
}

/** What a client may be connected to. */
export interface Server {
  readonly port: number;
  /** Answers nobody, keeps its connections. */
  readonly isFrozen: boolean;
  connect(client: Client): void;
  disconnect(client: Client): void;
  receive(client: Client, args: readonly string[]): void;
}

/** Long answers that a server gives again and again, as they go out. */
const longAnswers = new WeakMap<object, string>();

function encoded(reply: Reply): string {
  if (!Array.isArray(reply) || reply.length < 50) return encodeReply(reply);
  const text = longAnswers.get(reply) ?? encodeReply(reply);
  longAnswers.set(reply, text);
  return text;
}

/** Serves the Redis protocol on a stream. */
export function serveStream(server: Server, stream: Duplex, from: string): void {
  const client = new Client(
    from,
    (reply) => {
      if (stream.writable) stream.write(encoded(reply));
    },
    () => stream.destroy(),
  );
  const decoder = new ReplyDecoder();
  const over = (): void => {
    if (client.isClosed && stream.destroyed) return;
    client.gone();
    server.disconnect(client);
    stream.destroy();
  };
  stream.on('error', over);
  stream.on('close', over);
  stream.on('data', (chunk: Buffer) => {
    for (const command of decoder.push(chunk)) {
      if (!client.isClosed) server.receive(client, Array.isArray(command) ? command.map(String) : [String(command)]);
    }
  });
  server.connect(client);
}

/** One question of another process of the simulation. `answer` gets undefined when the connection ends instead. */
export function askServer(
  server: Server,
  from: string,
  commands: readonly (readonly string[])[],
  answer: (replies: readonly Reply[] | undefined) => void,
): () => void {
  const replies: Reply[] = [];
  const client = new Client(
    from,
    (reply) => {
      replies.push(reply);
      if (replies.length < commands.length) return;
      leave();
      answer(replies);
    },
    () => answer(undefined),
  );
  const leave = (): void => {
    if (client.isClosed) return;
    client.gone();
    server.disconnect(client);
  };
  server.connect(client);
  for (const command of commands) if (!client.isClosed) server.receive(client, command);
  return leave;
}

export const errorReply = (message: string): RedisError => new RedisError(message);
