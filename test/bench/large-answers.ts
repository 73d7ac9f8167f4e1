/**
 * Processes that answer whatever they are asked with as much as the operator reads, in the form that takes it the most
 * memory, and keep one answer back for as long as it waits, so that all of it is held at once.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { longestAnswerBytes } from '../../src/api/bounds.ts';
import { ReplyDecoder } from '../../src/engines/redis/client/resp.ts';
import { dataPort, sentinelPort } from '../../src/engines/redis/names.ts';
import { encodeReply } from '../support/scripted-redis.ts';
import { range } from './in-flight.ts';
import { addressOf, members } from './stand-in.ts';

const dataNodes = 3;
/** Just before the operator gives up. */
const lateMs = 900;
/** Less than the bound by what stands before it. */
const size = longestAnswerBytes - 1024;

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
const numbered = (count: number): number[] => [...range(0, count)];

const lines = (first: readonly string[]): string => {
  const filler = numbered(size / 9).map((i) => `${String(i).padStart(5, 'k')}:v`);
  return bulk(`${[...first, ...filler].join('\r\n')}\r\n`.slice(0, size));
};
const pairs = (first: readonly string[]): string => {
  const filler = numbered(Math.floor(size / 18)).flatMap((i) => [String(i).padStart(5, 'k'), 'v']);
  return encodeReply([...first, ...filler]);
};
const emptyRows = `*${size / 4}\r\n${'*0\r\n'.repeat(size / 4)}`;

const info = lines(['redis_version:8.0.1', 'role:master', 'loading:0']);
const config = pairs([]);
const primary = pairs(['ip', '127.0.0.1', 'flags', 'master', 'config-epoch', '1', 'runid', 'x']);

/** Undefined: it waits. */
function answerTo(command: string): string | undefined {
  if (command === 'INFO') return info;
  if (command.startsWith('CONFIG GET')) return config;
  if (command.startsWith('SENTINEL MASTER')) return primary;
  if (command.startsWith('SENTINEL REPLICAS')) return emptyRows;
  if (command === 'PING') return undefined;
  if (command.startsWith('SENTINEL SENTINELS')) return undefined;
  return encodeReply('OK');
}

function serve(socket: Socket): void {
  const decoder = new ReplyDecoder();
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    for (const args of decoder.push(chunk)) {
      const command = Array.isArray(args) ? args.join(' ') : '';
      if (command.startsWith('SUBSCRIBE')) {
        socket.write(encodeReply(['subscribe', 'all', 1]));
        continue;
      }
      const answer = answerTo(command);
      if (answer !== undefined) socket.write(answer);
      else setTimeout(() => socket.writable && socket.write(command === 'PING' ? '+PONG\r\n' : emptyRows), lateMs);
    }
  });
}

/** For the members of the clusters 0 to `n` - 1. Resolves with what ends them. */
export async function startLargeAnswers(n: number): Promise<() => void> {
  const sockets = new Set<Socket>();
  const open = (host: string, port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        serve(socket);
      });
      server.once('error', reject);
      server.listen({ host, port }, () => resolve(server));
    });
  const places = [...range(0, n)].flatMap((i) =>
    [...range(0, members)].map(
      (member) => [addressOf(i, member), member < dataNodes ? dataPort : sentinelPort] as const,
    ),
  );
  const servers = await Promise.all(places.map(([host, port]) => open(host, port)));
  return () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  };
}
