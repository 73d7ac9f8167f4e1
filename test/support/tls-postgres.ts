/** A PostgreSQL on the loopback, with the certificate of a cluster. It answers each statement with `answer`, or as if it was carried out. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { ServerFacts, SettingSeen } from '../../src/engines/postgres/client/questions/server.ts';
import type { ApplicationSeen } from '../../src/engines/postgres/observe/application.ts';
import type { LiveMember } from '../../src/engines/postgres/observe/observed.ts';
import { dialTcp } from '../../src/system/dial.ts';
import type { Secrets } from './issued-secrets.ts';
import { authentication, complete, ready, table } from './postgres-messages.ts';

export interface Spoken {
  /** Who logged in, and every statement. */
  readonly said: string[];
  /** The client's end of a new connection. */
  connect(): Promise<Duplex>;
}

export function tlsPostgres(
  secrets: Secrets,
  answer: (statement: string) => Buffer | undefined,
  login: (user: string | undefined) => Buffer = () => authentication(0),
): Spoken {
  const said: string[] = [];
  const { 'ca.crt': ca = '' } = secrets['db-server-tls'] ?? {};
  // A member with a copy of somebody's certificate shows that, and lets in by the operator's CA all the same.
  const { 'tls.crt': cert = '', 'tls.key': key = '' } = secrets['db-shown-tls'] ?? secrets['db-server-tls'] ?? {};
  const talk = (stream: TLSSocket): void => {
    let isIn = false;
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => {
      if (isIn) {
        if (bytes[0] === 0x58) return;
        const statement = bytes.subarray(5, -1).toString();
        said.push(statement);
        stream.write(Buffer.concat([answer(statement) ?? complete('DONE'), ready]));
        return;
      }
      isIn = true;
      const [, user] = /user\0([^\0]+)/.exec(bytes.toString()) ?? [];
      said.push(`login ${user} ${stream.getPeerCertificate().subject?.CN ?? 'without a certificate'}`);
      stream.write(Buffer.concat([login(user), ready]));
    });
  };
  const connect = async (): Promise<Duplex> => {
    const server = createServer((socket: Socket) => {
      // One connection each: nothing is left to close.
      server.close();
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('S');
        const options = { isServer: true, cert, key, ca, requestCert: true, rejectUnauthorized: false };
        talk(new TLSSocket(socket, options));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return dialTcp('127.0.0.1', port, new AbortController().signal);
  };
  return { said, connect };
}

const truth = (value: boolean): string => (value ? 't' : 'f');

/** What a server says of itself that is as a situation tells of the member. */
export function answerAs(
  { server }: Pick<LiveMember, 'server'>,
  application?: ApplicationSeen,
): (statement: string) => Buffer | undefined {
  if (server?.state !== 'seen') return () => undefined;
  return (statement) => {
    if (statement.includes('"hasOwner"')) {
      const facts = application?.state === 'seen' ? application.facts : { hasOwner: true, owner: 'app' };
      return table([{ hasOwner: truth(facts.hasOwner), owner: facts.owner ?? null }]);
    }
    // What is to be run or copied before clients come has been.
    if (statement.includes('"isFilled"')) return table([{ isFilled: truth(true) }]);
    if (statement.includes('"isDefault"')) return settingsTable(server.settings);
    if (statement.includes('AS reordered')) return table([{ reordered: server.reordered ?? null }]);
    if (statement.includes('pg_db_role_setting')) return table([], ['name', 'all']);
    if (statement.includes('"inRecovery"')) return factsTable(server.facts);
    return undefined;
  };
}

function factsTable({ inRecovery, config, waitsFor, pending, configAgeMs, upMs, prepared }: ServerFacts): Buffer {
  return table([
    {
      inRecovery: truth(inRecovery),
      config: config ?? null,
      pending: String(pending),
      configAgeMs: String(configAgeMs),
      upMs: String(upMs),
      waitsFor,
      prepared: String(prepared),
    },
  ]);
}

function settingsTable(settings: readonly SettingSeen[]): Buffer {
  const rows = settings.map(({ name, value, isDefault, isText, isPending }) => ({
    name,
    value,
    isDefault: truth(isDefault),
    isText: truth(isText),
    isPending: truth(isPending),
  }));
  return table(rows, ['name', 'value', 'isDefault', 'isText', 'isPending']);
}
