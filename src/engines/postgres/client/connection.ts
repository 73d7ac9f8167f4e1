/**
 * One session with one server: queries in order, their results as texts. Errors of the server are values of the protocol,
 * after which the next query may be asked; anything else ends the connection.
 */
import { fieldReader } from './fields.ts';
import { readParameter } from './login.ts';
import { queryMessage, terminateMessage } from './message.ts';
import { ProtocolError, type WholeMessage } from './message-decoder.ts';
import { columnsIn, type Result, type Value, valuesIn } from './rows.ts';
import { type ServerError, serverErrorIn } from './server-error.ts';
import type { Wire } from './wire.ts';

export interface PostgresConnection {
  /** As the server said last. */
  readonly parameters: Readonly<Record<string, string>>;
  /** One result for each statement. Rejects with ServerError where the server refuses. One at a time. */
  query(sql: string): Promise<readonly Result[]>;
  /** For commands that are answered with data. */
  readonly wire: Wire;
  close(): void;
}

/** What an answer may take together. */
export interface AnswerBounds {
  readonly bytes: number;
  readonly rows: number;
}

/** Notices and the like that a server may send with one answer. */
const mostAsides = 1000;

export function postgresConnection(
  wire: Wire,
  parameters: Readonly<Record<string, string>>,
  bounds: AnswerBounds,
): PostgresConnection {
  const told = { ...parameters };
  return {
    parameters: told,
    wire,
    async query(sql) {
      wire.write(queryMessage(sql));
      return await resultsOf(wire, told, bounds);
    },
    close: () => wire.close(terminateMessage()),
  };
}

/** Up to ReadyForQuery. */
async function resultsOf(wire: Wire, told: Record<string, string>, bounds: AnswerBounds): Promise<readonly Result[]> {
  const results: Result[] = [];
  let refused: ServerError | undefined;
  let open: { readonly columns: readonly string[]; readonly rows: (readonly Value[])[] } | undefined;
  let [bytes, rows] = [0, 0];
  for (;;) {
    const { type, body } = await nextAnswer(wire, told);
    bytes += body.length;
    if (bytes > bounds.bytes) throw new ProtocolError(`an answer is longer than ${bounds.bytes} bytes`);
    switch (type) {
      case 'T':
        open = { columns: columnsIn(body), rows: [] };
        break;
      case 'D':
        if (open === undefined) throw new ProtocolError('there is a row before its columns');
        if (++rows > bounds.rows) throw new ProtocolError(`an answer has more than ${bounds.rows} rows`);
        open.rows.push(valuesIn(body, open.columns.length));
        break;
      case 'C':
        results.push({ columns: [], rows: [], ...open, tag: fieldReader(body).text() });
        open = undefined;
        break;
      case 'I':
        results.push({ columns: [], rows: [], tag: '' });
        break;
      case 'E':
        refused = serverErrorIn(body);
        if (refused.severity !== 'ERROR') throw refused;
        break;
      case 'Z':
        if (refused !== undefined) throw refused;
        return results;
      default:
        throw new ProtocolError(`a query is answered with a message ${type}`);
    }
  }
}

/** A parameter, a notice or a notification: a server may send one at any time. */
export const isAside = ({ type }: WholeMessage): boolean => type === 'S' || type === 'N' || type === 'A';

/** The next message that is an answer, and no aside. */
export async function nextAnswer(wire: Wire, told: Record<string, string> = {}): Promise<WholeMessage> {
  for (let asides = 0; asides < mostAsides; asides++) {
    const message = await wire.next();
    if (message.kind === 'copy') throw new ProtocolError('a query is answered with data');
    if (message.type === 'S') readParameter(message.body, told);
    else if (!isAside(message)) return message;
  }
  throw new ProtocolError(`there are more than ${mostAsides} notices with an answer`);
}
