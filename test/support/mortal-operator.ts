/**
 * The shipped controller code with a wire that counts its writes and can end with the k-th of them.
 *
 * A write is a POST, PUT, PATCH or DELETE that the API server has acknowledged (leases, events and dry runs apart), or a command
 * that changes a database process and was answered. The operator dies before it learns of the answer to its last
 * write: from then on nothing it sends arrives, and nothing it knew is passed on. What it asks of PostgreSQL and Patroni
 * is encrypted, so there an action of a plan counts that was carried out.
 */
import type { Duplex } from 'node:stream';
import type { KindHandler } from '../../src/engine/engine.ts';
import { engines as ownEngines } from '../../src/engines/index.ts';
import { handlersOf } from '../../src/jobs/handlers.ts';
import { loadKubeconfig } from '../../src/runtime/kubeconfig.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { createOperator } from '../../src/runtime/operator.ts';
import type { Transport, TransportRequest } from '../../src/runtime/transport.ts';
import { createTransport } from '../../src/runtime/undici-transport.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { operatorImage } from '../../src/sandbox/images/recipes.ts';
import { systemClock } from '../../src/system/clock.ts';
import { type Dial, dialTcp } from '../../src/system/dial.ts';
import { createLog } from '../../src/system/log.ts';
import { type ForesightPlace, foreseen } from './foreseen-operator.ts';

export interface Life {
  /** One line a write, in order. */
  readonly writes: readonly string[];
  /** Resolves when the last allowed write was made; never without a limit. */
  readonly died: Promise<void>;
  /** SIGTERM, for one that lived. Resolves when everything is put down. */
  end(): Promise<void>;
}

export interface LifeOptions {
  readonly operatorKubeconfig: string;
  readonly namespace: string;
  /** Writes until it dies; undefined: it lives. */
  readonly writes?: number;
  /** Where O13 tells of it. */
  readonly foresight: ForesightPlace;
}

/** Its Jobs run the image that the tests have loaded. */
const engines = handlersOf(ownEngines, imageReference(operatorImage));

class Dead extends Error {
  constructor() {
    super('this operator is dead');
  }
}

/** Commands by which a database process changes: of Redis, and of etcd. */
const changing = [
  /\r\n(REPLICAOF|CONFIG\r\n\$\d+\r\nSET|CLIENT\r\n\$\d+\r\n(?:PAUSE|UNPAUSE)|SENTINEL\r\n\$\d+\r\n(?:MONITOR|REMOVE|SET|RESET|FAILOVER))\r\n/,
  /^POST \/v3\/((?:cluster\/member\/(?:add|promote|remove))|maintenance\/(?:transfer-leadership|defragment)|kv\/compaction|auth\/(?:enable|disable|user\/[a-z]+)) HTTP/,
];
/** etcd's answer where it has not done what it was asked for. */
const refused = /^HTTP\/1\.1 (?!200)/;

/** A dry run changes nothing, and whoever died of it would come no further. */
function isCounted({ method, path, query }: TransportRequest): boolean {
  return method !== 'GET' && query?.dryRun !== 'All' && !/\/(leases|events)(\/|$)/.test(path);
}

export async function startLife(options: LifeOptions): Promise<Life> {
  const writes: string[] = [];
  const stopping = new AbortController();
  let dead = false;
  let die = (): void => undefined;
  const died = new Promise<void>((resolve) => {
    die = () => {
      dead = true;
      resolve();
      stopping.abort(new Dead());
    };
  });
  const wrote = (what: string): void => {
    writes.push(what);
    if (writes.length === options.writes) die();
  };

  const { credentials } = await loadKubeconfig({
    env: process.env,
    clock: systemClock,
    path: options.operatorKubeconfig,
  });
  const wire = createTransport({ credentials, userAgent: 'clusterwright-mortal', clock: systemClock });
  const transport: Transport = {
    async request(request) {
      if (dead) throw new Dead();
      const response = await wire.request(request);
      if (isCounted(request) && response.status < 300) wrote(`${request.method} ${request.path}`);
      if (dead) throw new Dead();
      return response;
    },
    async stream(request) {
      if (dead) throw new Dead();
      return wire.stream(request);
    },
    close: () => wire.close(),
  };
  const dial: Dial = async (host, port, signal) => {
    if (dead) throw new Dead();
    return counting(await dialTcp(host, port, signal), `${host}:${port}`, wrote, () => dead);
  };

  const counted = engines.map((engine) =>
    engine.kind.resource.kind === 'PostgresCluster' ? acting(engine, wrote, () => dead) : engine,
  );
  const edges = { engines: counted, transport, dial, clock: systemClock, namespaces: [options.namespace] };
  const operator = createOperator({
    ...foreseen(edges, options.foresight),
    instance: 'mortal',
    random: Math.random,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics({ process: false }),
  });
  const ended = operator.run(stopping.signal).catch((error: unknown) => {
    if (!dead) throw error;
  });
  return {
    writes,
    died: died.then(() => ended),
    async end() {
      stopping.abort();
      await ended;
    },
  };
}

/** Counts an action when it has been carried out; a dead operator does not learn of that, and carries out none. */
function acting(engine: KindHandler, wrote: (what: string) => void, isDead: () => boolean): KindHandler {
  return {
    ...engine,
    async assess(...asked) {
      const assessment = await engine.assess(...asked);
      return {
        ...assessment,
        async act(action) {
          if (isDead()) throw new Dead();
          await assessment.act(action);
          wrote(`act ${action.type}`);
          if (isDead()) throw new Dead();
        },
      };
    },
  };
}

/** Counts a changing command when its answer arrives; a dead operator's commands go nowhere. */
function counting(socket: Duplex, place: string, wrote: (what: string) => void, isDead: () => boolean): Duplex {
  const write = socket.write.bind(socket) as (chunk: Buffer) => boolean;
  socket.write = (chunk: Buffer): boolean => {
    if (isDead()) {
      socket.destroy(new Dead());
      return false;
    }
    const text = chunk.toString('utf8');
    const command = changing.flatMap((pattern) => pattern.exec(text)?.[1] ?? [])[0];
    if (command !== undefined) {
      socket.prependOnceListener('data', (answer: Buffer) => {
        if (refused.test(answer.toString('utf8'))) return;
        wrote(`${command.replace(/\r\n\$\d+\r\n/, ' ')} at ${place}`);
        if (isDead()) socket.destroy(new Dead());
      });
    }
    return write(chunk);
  };
  return socket;
}
