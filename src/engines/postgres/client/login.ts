/** From the first message to the moment at which the server waits for a command. */
import { fieldReader } from './fields.ts';
import { saslInitialMessage, saslMessage, startupMessage } from './message.ts';
import { ProtocolError, type WholeMessage } from './message-decoder.ts';
import { type ScramProof, scramExchange, scramMechanism } from './scram.ts';
import { requireStable } from './scram-verifier.ts';
import { serverErrorIn } from './server-error.ts';
import type { Wire } from './wire.ts';

export interface Login {
  readonly user: string;
  /** Default: as the user is called. */
  readonly database?: string;
  /**
   * With it, nobody is let in without it: a server that does not ask knows no more than its address. Without it, the
   * certificate that was shown in TLS has to do, or nothing at all.
   */
  readonly password?: string;
  /** `true`: replication commands alone. `database`: SQL as well. */
  readonly replication?: 'true' | 'database';
  /** For this session, for example `statement_timeout`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** What the server says of itself and of the session: `server_version`, `in_hot_standby`. */
export type Parameters = Readonly<Record<string, string>>;

/** A server says about fifteen things before it is ready. */
const mostMessages = 200;

/** @param nonce printable and never used before */
export async function logIn(wire: Wire, login: Login, nonce: string): Promise<Parameters> {
  const { user, database, password, replication, settings } = login;
  if (password !== undefined) requireStable(password);
  wire.write(
    startupMessage({
      user,
      ...(database === undefined ? {} : { database }),
      ...(replication === undefined ? {} : { replication }),
      client_encoding: 'UTF8',
      application_name: 'clusterwright',
      ...settings,
    }),
  );
  const next = boundedMessages(wire);
  await authenticate(wire, next, password, nonce);
  const parameters: Record<string, string> = {};
  for (;;) {
    const { type, body } = await next();
    switch (type) {
      case 'S':
        readParameter(body, parameters);
        break;
      // Numbers by which a statement could be cancelled: it is bounded by statement_timeout instead.
      case 'K':
      case 'N':
        break;
      case 'Z':
        return parameters;
      default:
        throw new ProtocolError(`a login is answered with a message ${type}`);
    }
  }
}

export function readParameter(body: Buffer, parameters: Record<string, string>): void {
  const read = fieldReader(body);
  const name = read.text();
  const value = read.text();
  if (name in parameters || Object.keys(parameters).length < mostMessages) parameters[name] = value;
}

/** Throws what the server refuses with. */
function boundedMessages(wire: Wire): () => Promise<WholeMessage> {
  let count = 0;
  return async () => {
    if (++count > mostMessages) throw new ProtocolError('a login does not end');
    const message = await wire.next();
    if (message.kind === 'copy') throw new ProtocolError('a login is answered with data');
    if (message.type === 'E') throw serverErrorIn(message.body);
    return message;
  };
}

type Step =
  | { readonly is: 'asked' }
  | { readonly is: 'answered'; readonly proof: ScramProof }
  | { readonly is: 'proved' };

async function authenticate(
  wire: Wire,
  next: () => Promise<WholeMessage>,
  password: string | undefined,
  nonce: string,
): Promise<void> {
  const exchange = scramExchange(password ?? '', nonce);
  let step: Step | undefined;
  for (;;) {
    const { type, body } = await next();
    if (type === 'N') continue;
    if (type !== 'R') throw new ProtocolError(`a login is answered with a message ${type}`);
    const read = fieldReader(body);
    const question = read.int32();
    if (question === 0) {
      if (password === undefined ? step === undefined : step?.is === 'proved') return;
      throw new ProtocolError('the server lets in without proving that it knows the password');
    }
    if (password === undefined) throw new ProtocolError('the server asks for a password, and there is none');
    if (question === 10 && step === undefined) {
      if (!mechanismsIn(read.rest()).includes(scramMechanism)) {
        throw new ProtocolError(`the server does not offer ${scramMechanism}`);
      }
      wire.write(saslInitialMessage(scramMechanism, exchange.first));
      step = { is: 'asked' };
    } else if (question === 11 && step?.is === 'asked') {
      const proof = await exchange.answer(read.rest().toString('latin1'));
      wire.write(saslMessage(proof.message));
      step = { is: 'answered', proof };
    } else if (question === 12 && step?.is === 'answered') {
      step.proof.verify(read.rest().toString('latin1'));
      step = { is: 'proved' };
    } else {
      // Among them those that would have the password itself, or a hash of it that is as good.
      throw new ProtocolError(`the server asks for a login of another kind (${question})`);
    }
  }
}

function mechanismsIn(list: Buffer): readonly string[] {
  return list.toString('latin1').split('\0').filter(Boolean);
}
