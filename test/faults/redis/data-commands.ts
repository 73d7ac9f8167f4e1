/** The commands of a data node, with the refusals that the server puts before them, in its order. */
import type { Reply } from '../../../src/engines/redis/client/resp.ts';
import { commandInfo } from './acl-commands.ts';
import { type Client, errorReply } from './client.ts';
import type { Outcome } from './connections.ts';
import type { DataNode } from './data-node.ts';
import { infoText } from './info.ts';

interface Command {
  /** Number of words, the name among them; negative for at least that many. */
  readonly words: number;
  readonly isWrite?: boolean;
  /** Taken while the dataset is read from disk. */
  readonly whileLoading?: boolean;
  /** Taken by a replica that lost its source and does not serve what may be stale. */
  readonly whileStale?: boolean;
  run(node: DataNode, args: readonly string[], client: Client): Outcome;
}

const always = { whileLoading: true, whileStale: true } as const;

function written(run: (node: DataNode, args: readonly string[]) => Reply, words: number): Command {
  return {
    words,
    isWrite: true,
    run(node, args, client) {
      const reply = run(node, args);
      node.write(client, args);
      return reply;
    },
  };
}

const commands: Readonly<Record<string, Command>> = {
  PING: { words: -1, run: (_, args) => args[1] ?? 'PONG' },
  GET: { words: 2, run: (node, [, key = '']) => node.get(key) },
  MGET: { words: -2, run: (node, args) => args.slice(1).map((key) => node.get(key)) },
  EXISTS: { words: -2, run: (node, args) => args.slice(1).filter((key) => node.dataset.keys.has(key)).length },
  DBSIZE: { words: 1, run: (node) => node.dataset.keys.size },
  SET: written(() => 'OK', -3),
  MSET: written(() => 'OK', -3),
  DEL: written((node, args) => args.slice(1).filter((key) => node.dataset.keys.has(key)).length, -2),
  FLUSHALL: written(() => 'OK', -1),
  INFO: { words: -1, ...always, run: (node, [, section]) => infoText(node, section) },
  ROLE: { words: 1, ...always, run: (node) => role(node) },
  AUTH: {
    words: -2,
    ...always,
    run: (node, args, client) => node.users.authenticate(args, client),
  },
  ACL: { words: -2, ...always, run: (node, args) => node.users.command(args.slice(1)) },
  COMMAND: { words: -1, ...always, run: (_, args) => described(args) },
  CONFIG: { words: -2, ...always, run: (node, args) => config(node, args) },
  CLIENT: { words: -2, ...always, run: (node, args, client) => clientCommand(node, args, client) },
  REPLICAOF: { words: 3, whileStale: true, run: (node, args) => replicaOf(node, args) },
  SLAVEOF: { words: 3, whileStale: true, run: (node, args) => replicaOf(node, args) },
  WAIT: { words: 3, run: (node, args, client) => wait(node, args, client) },
  SAVE: {
    words: 1,
    run(node) {
      node.save();
      return 'OK';
    },
  },
};

/** Everything that the server checks before it runs a command. */
export function executeData(node: DataNode, client: Client, args: readonly string[]): Outcome {
  const name = args[0]?.toUpperCase() ?? '';
  const command = commands[name];
  if (command === undefined) return unknown(args);
  if (command.words > 0 ? args.length !== command.words : args.length < -command.words) {
    return errorReply(`ERR wrong number of arguments for '${name.toLowerCase()}' command`);
  }
  if (!client.isAuthenticated && name !== 'AUTH') return errorReply('NOAUTH Authentication required.');
  const denial = name === 'AUTH' ? undefined : node.users.refusal(client.user, args);
  if (denial !== undefined) return errorReply(denial);
  const refusal = refusalOf(node, name, command);
  if (refusal !== undefined) return errorReply(refusal);
  if (command.isWrite === true && node.isPaused) return node.postpone(client, args);
  return command.run(node, args, client);
}

/** The answer to a command that no server has. */
export function unknown([name, ...args]: readonly string[]): Reply {
  return errorReply(
    `ERR unknown command '${name}', with args beginning with: ${args.map((arg) => `'${arg}' `).join('')}`,
  );
}

function refusalOf(node: DataNode, name: string, command: Command): string | undefined {
  const { replication, settings } = node;
  const isWrite = command.isWrite === true;
  if (node.isDiskFailing && (isWrite || name === 'PING')) {
    return 'MISCONF Errors writing to the AOF file: No space left on device';
  }
  const wanted = settings.number('min-replicas-to-write');
  if (isWrite && replication.isPrimary && wanted > 0 && replication.goodReplicas < wanted) {
    return 'NOREPLICAS Not enough good replicas to write.';
  }
  if (isWrite && !replication.isPrimary && settings.flag('replica-read-only')) {
    return "READONLY You can't write against a read only replica.";
  }
  const isStale = !replication.isPrimary && !replication.isUp;
  if (isStale && !settings.flag('replica-serve-stale-data') && command.whileStale !== true) {
    return "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
  }
  return node.isLoading && command.whileLoading !== true ? 'LOADING Redis is loading the dataset in memory' : undefined;
}

function described([, verb = '', ...names]: readonly string[]): Reply {
  if (verb.toUpperCase() !== 'INFO') return errorReply('ERR the simulation tells of commands by name only');
  return names.map(commandInfo);
}

function role({ replication, dataset, settings }: DataNode): Reply {
  const { source } = replication;
  if (source === undefined) {
    const online = [...replication.replicas].filter((link) => link.state === 'online');
    const replicas = online.map(({ replica, ackOffset }) => [
      replica.ip,
      String(settings.number('port')),
      String(ackOffset),
    ]);
    return ['master', dataset.offset, replicas];
  }
  return ['slave', source.host, source.port, replication.state, replication.isUp ? dataset.offset : -1];
}

function config(node: DataNode, args: readonly string[]): Reply {
  const { settings } = node;
  const verb = args[1]?.toUpperCase();
  if (verb === 'GET' && args.length > 2) return settings.get(args.slice(2));
  if (verb === 'REWRITE') return 'OK';
  if (verb !== 'SET' || args.length < 4 || args.length % 2 !== 0) {
    return errorReply(`ERR wrong number of arguments for 'config|${verb?.toLowerCase()}' command`);
  }
  const error = settings.set(args.slice(2));
  node.applyAppendOnly();
  return error === undefined ? 'OK' : errorReply(error);
}

function clientCommand(node: DataNode, args: readonly string[], client: Client): Reply {
  switch (args[1]?.toUpperCase()) {
    case 'PAUSE':
      if (!/^\d+$/.test(args[2] ?? '')) return errorReply('ERR timeout is not an integer or out of range');
      if (args[3]?.toUpperCase() !== 'WRITE') return errorReply('ERR the simulation pauses writes only');
      node.pause(Number(args[2]));
      return 'OK';
    case 'UNPAUSE':
      node.resume();
      return 'OK';
    case 'KILL': {
      const others = node.connections.clients.length;
      node.connections.closeAll((other) => other !== client);
      return others - node.connections.clients.length;
    }
    case 'SETNAME':
    case 'SETINFO':
      return 'OK';
    default:
      return errorReply(`ERR unknown subcommand '${args[1]}'. Try CLIENT HELP.`);
  }
}

function replicaOf(node: DataNode, [, host = '', port = '']: readonly string[]): Reply {
  const { replication } = node;
  if (host.toUpperCase() === 'NO' && port.toUpperCase() === 'ONE') {
    replication.become();
    return 'OK';
  }
  const number = Number(port);
  if (!/^\d+$/.test(port) || number > 65_535) return errorReply('ERR Invalid master port');
  if (replication.source?.host === host && replication.source.port === number) {
    return 'OK Already connected to specified master';
  }
  node.disconnectWaiting();
  replication.follow(host, number);
  return 'OK';
}

function wait(node: DataNode, [, count = '', timeout = '']: readonly string[], client: Client): Outcome {
  if (!node.replication.isPrimary) {
    return errorReply(
      'ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is ' +
        'configured to be writable (which is not the default) writes to replicas are just local and are not propagated.',
    );
  }
  if (!/^-?\d+$/.test(count)) return errorReply('ERR value is not an integer or out of range');
  if (!/^-?\d+$/.test(timeout)) return errorReply('ERR timeout is not an integer or out of range');
  if (Number(timeout) < 0) return errorReply('ERR timeout is negative');
  return node.wait(client, Number(count), Number(timeout));
}
