/** `redis-cli` in a simulated pod: one command to one server, and what it prints where nobody looks on. */
import { RedisError, type Reply } from '../../../src/engines/redis/client/resp.ts';
import { askServer } from './client.ts';
import type { Host } from './processes.ts';

/** Connecting, logging in and one question, in milliseconds: three times there and back. */
const tripMs = 1.5;

export function printed(reply: Reply): string {
  if (reply === null) return '';
  if (reply instanceof RedisError) return reply.message;
  return Array.isArray(reply) ? reply.map(printed).join('\n') : String(reply);
}

export interface Errand {
  readonly host: Host;
  readonly namespace: string;
  readonly password: string;
  readonly seconds: number;
  /** `-h HOST` (default: this pod), `-p PORT`, `--user NAME` (default: the default user), then the command. */
  readonly args: readonly string[];
  /** Whether it knows the password; it does where nothing else is said. */
  readonly login?: boolean;
}

export interface Printed {
  readonly printed: string;
  /** Where nobody looks unless asked to. */
  readonly warned: readonly string[];
}

/** Undefined where it exits with an error: nobody listens, the connection ends, or the time is over. */
export function redisCli({
  host,
  namespace,
  password,
  seconds,
  args,
  login = true,
}: Errand): Promise<Printed | undefined> {
  const isRemote = args[0] === '-h';
  const [port = '', ...rest] = args.slice(isRemote ? 3 : 1);
  const user = rest[0] === '--user' ? rest.slice(1, 2) : [];
  const command = rest.slice(user.length * 2);
  const name = isRemote ? (args[1] ?? '') : host.ip;
  const { network, processes, time } = host;
  const ip = /^[\d.]+$/.test(name)
    ? name
    : (network.resolve(`${name}.${namespace}.svc.cluster.local`) ?? network.resolve(name));
  return new Promise((resolve) => {
    let leave: (() => void) | undefined;
    const end = (text: Printed | undefined): void => {
      cancel();
      leave?.();
      resolve(text);
    };
    const cancel = time.after(seconds * 1000, () => end(undefined));
    time.after(tripMs, () => {
      if (ip !== undefined && !network.reaches(host.ip, ip)) return;
      const server = port === '6379' ? processes.data(ip ?? '') : processes.sentinel(ip ?? '');
      if (server === undefined) {
        end(undefined);
        return;
      }
      // A password that is refused is only warned about; the command is tried all the same.
      const said = login ? [['AUTH', ...user, password], command] : [command];
      leave = askServer(server, host.ip, said, (replies) => {
        if (replies === undefined) return end(undefined);
        const [first = null] = replies;
        const warned = login && first instanceof RedisError ? [`AUTH failed: ${first.message}`] : [];
        end({ printed: printed(replies.at(-1) ?? null), warned });
      });
    });
  });
}
