/** The commands of a sentinel, answered as the real one does. */
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { type Client, errorReply } from './client.ts';
import type { Outcome } from './connections.ts';
import { unknown } from './data-commands.ts';
import { selectReplica, startFailover } from './failover.ts';
import type { Sentinel } from './sentinel.ts';
import { defaultSettings, settingNames } from './sentinel-file.ts';
import { peerRow, primaryRow, replicaRow } from './sentinel-rows.ts';
import { currentPrimary, resetWatch, type Watch } from './watch.ts';

export function executeSentinel(sentinel: Sentinel, client: Client, args: readonly string[]): Outcome {
  const name = args[0]?.toUpperCase();
  if (!client.isAuthenticated && name !== 'AUTH') return errorReply('NOAUTH Authentication required.');
  switch (name) {
    case 'AUTH':
      return sentinel.users.authenticate(args, client);
    case 'ACL':
      return sentinel.users.command(args.slice(1));
    case 'PING':
      return args[1] ?? 'PONG';
    case 'INFO':
      return `# Server\r\nredis_mode:sentinel\r\nrun_id:${sentinel.runId}\r\n# Sentinel\r\nsentinel_masters:${sentinel.watches.size}\r\nsentinel_tilt:0\r\n`;
    case 'SUBSCRIBE':
      return subscribe(client, args.slice(1));
    case 'SENTINEL':
      return sentinelCommand(sentinel, args.slice(1));
    default:
      return unknown(args);
  }
}

function subscribe(client: Client, channels: readonly string[]): Outcome {
  const replies = channels.map((channel) => {
    client.channels.add(channel);
    return ['subscribe', channel, client.channels.size];
  });
  return { replies };
}

type Handler = (sentinel: Sentinel, watch: Watch, args: readonly string[]) => Reply;

/** Those whose first argument names a watched primary. */
const aboutOne: Readonly<Record<string, Handler>> = {
  MASTER: (sentinel, watch) => primaryRow(watch, sentinel.now),
  REPLICAS: (sentinel, watch) =>
    [...watch.replicas.values()].map((replica) => replicaRow(watch, replica, sentinel.now)),
  SLAVES: (sentinel, watch) => [...watch.replicas.values()].map((replica) => replicaRow(watch, replica, sentinel.now)),
  SENTINELS: (sentinel, watch) => [...watch.peers.values()].map((peer) => peerRow(watch, peer, sentinel.now)),
  SET: set,
  FAILOVER: (sentinel, watch) => failover(sentinel, watch),
  CKQUORUM: (_, watch) => checkQuorum(watch),
  REMOVE(sentinel, watch) {
    sentinel.tell('-monitor', watch, watch.primary);
    sentinel.watches.delete(watch.name);
    sentinel.changed();
    return 'OK';
  },
};

function sentinelCommand(sentinel: Sentinel, [verb = '', name = '', ...args]: readonly string[]): Reply {
  switch (verb.toUpperCase()) {
    case 'MYID':
      return sentinel.id;
    case 'MASTERS':
      return [...sentinel.watches.values()].map((watch) => primaryRow(watch, sentinel.now));
    case 'GET-MASTER-ADDR-BY-NAME': {
      const watch = sentinel.watches.get(name);
      if (watch === undefined) return null;
      const { ip, port } = currentPrimary(watch);
      return [ip, String(port)];
    }
    case 'MONITOR':
      return monitor(sentinel, name, args);
    case 'RESET':
      return reset(sentinel, name);
    case 'FLUSHCONFIG':
      sentinel.changed();
      return 'OK';
    case 'CONFIG':
      return config(sentinel, name, args);
    case 'DEBUG':
      return debug(sentinel, name, args);
    default: {
      const handler = aboutOne[verb.toUpperCase()];
      if (handler === undefined) return errorReply(`ERR unknown subcommand '${verb}'. Try SENTINEL HELP.`);
      const watch = sentinel.watches.get(name);
      if (handler === set && args.length < 2)
        return errorReply("ERR wrong number of arguments for 'sentinel|set' command");
      return watch === undefined ? errorReply('ERR No such master with that name') : handler(sentinel, watch, args);
    }
  }
}

function monitor(sentinel: Sentinel, name: string, [ip = '', port = '', quorum = '']: readonly string[]): Reply {
  if (!/^-?\d+$/.test(quorum)) return errorReply('ERR Invalid quorum');
  if (!/^\d+$/.test(port)) return errorReply('ERR Invalid port');
  if (Number(quorum) <= 0) return errorReply('ERR Quorum must be 1 or greater.');
  if (sentinel.watches.has(name)) return errorReply('ERR Duplicate master name.');
  if (!/^[\d.]+$/.test(ip)) return errorReply('ERR Invalid IP address or hostname specified');
  sentinel.monitor(name, ip, Number(port), { ...defaultSettings, quorum: Number(quorum) });
  return 'OK';
}

/** One name at a time, as version 7.0 wants it. What it is told about others has it call them anew. */
function config(sentinel: Sentinel, verb: string, [name = '', value]: readonly string[]): Reply {
  switch (`${verb.toUpperCase()} ${name}`) {
    case 'GET announce-ip':
      return [name, sentinel.announceIp];
    case 'GET sentinel-user':
      return [name, sentinel.peerUser];
    case 'GET sentinel-pass':
      return [name, sentinel.peerPassword];
    case 'SET sentinel-user':
      sentinel.peerUser = value ?? '';
      break;
    case 'SET sentinel-pass':
      sentinel.peerPassword = value ?? '';
      break;
    default:
      throw new Error(`not simulated: ${verb} ${name}`);
  }
  sentinel.changed();
  sentinel.wake();
  return 'OK';
}

function reset(sentinel: Sentinel, pattern: string): Reply {
  const watches = [...sentinel.watches.values()].filter(({ name }) => pattern === '*' || pattern === name);
  for (const watch of watches) {
    const { ip, port } = watch.primary;
    resetWatch(watch, ip, port, sentinel.now);
    watch.peers.clear();
    sentinel.tell('+reset-master', watch, watch.primary);
  }
  if (watches.length > 0) sentinel.changed();
  sentinel.wake();
  return watches.length;
}

/** Of the periods only that of INFO. */
function debug(sentinel: Sentinel, parameter: string, [value = '']: readonly string[]): Reply {
  if (parameter.toUpperCase() !== 'INFO-PERIOD') return errorReply(`ERR Unknown argument for 'debug' '${parameter}'`);
  if (!/^[1-9]\d*$/.test(value)) return errorReply(`ERR Invalid argument '${value}' for SENTINEL DEBUG '${parameter}'`);
  sentinel.infoPeriod = Number(value);
  return 'OK';
}

function failover(sentinel: Sentinel, watch: Watch): Reply {
  if (watch.failover !== 'none') return errorReply('INPROG Failover already in progress');
  if (selectReplica(sentinel, watch) === undefined) {
    return errorReply('NOGOODSLAVE No suitable replica to promote');
  }
  startFailover(sentinel, watch);
  watch.isForced = true;
  sentinel.wake();
  return 'OK';
}

const isLogin = (option: string): boolean => option === 'auth-pass' || option === 'auth-user';

function set(sentinel: Sentinel, watch: Watch, args: readonly string[]): Reply {
  for (let i = 0; i < args.length; i += 2) {
    const [option = '', value] = [args[i]?.toLowerCase(), args[i + 1]];
    if (value === undefined || (!isLogin(option) && !(option in settingNames))) {
      return errorReply(`ERR Unknown option or number of arguments for SENTINEL SET '${args[i]}'`);
    }
    if (!isLogin(option) && !/^[1-9]\d*$/.test(value)) {
      return errorReply(`ERR Invalid argument '${value}' for SENTINEL SET '${args[i]}'`);
    }
    if (option === 'auth-user') watch.settings.user = value;
    else if (option === 'auth-pass') watch.settings.password = value;
    else watch.settings[settingNames[option as keyof typeof settingNames]] = Number(value);
  }
  sentinel.changed();
  sentinel.wake();
  return 'OK';
}

function checkQuorum(watch: Watch): Reply {
  const usable = 1 + [...watch.peers.values()].filter((peer) => peer.downSince === undefined).length;
  const majority = Math.floor((watch.peers.size + 1) / 2) + 1;
  if (usable >= watch.settings.quorum && usable >= majority) {
    return `OK ${usable} usable Sentinels. Quorum and failover authorization can be reached`;
  }
  const why = [
    ...(usable < watch.settings.quorum
      ? ['Not enough available Sentinels to reach the specified quorum for this master']
      : []),
    ...(usable < majority ? ['Not enough available Sentinels to reach the majority and authorize a failover'] : []),
  ];
  return errorReply(`NOQUORUM ${usable} usable Sentinels. ${why.join('. ')}`);
}
