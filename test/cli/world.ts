/** The world of a command in a test: what it prints is kept, files are values, and the cluster is a pretended one. */

import type { CliContext } from '../../src/cli/cli-context.ts';
import type { Connection } from '../../src/cli/connection.ts';
import type { PodDialer } from '../../src/cli/port-forward.ts';
import { engines } from '../../src/engines/index.ts';
import { handlersOf } from '../../src/jobs/handlers.ts';
import { createClient } from '../../src/runtime/client.ts';
import { CredentialsError, fixedCredentials } from '../../src/runtime/credentials.ts';
import type { Transport } from '../../src/runtime/transport.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

export interface World extends CliContext {
  readonly printed: { out: string; err: string };
}

export interface WorldOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Without one, there is no kubeconfig. */
  readonly api?: Transport;
  readonly dial?: CliContext['dial'];
  readonly forward?: PodDialer;
  readonly program?: string;
  /** Default: there is none. */
  readonly agent?: CliContext['agent'];
}

/** Refuses at once, as a pod does whose database is down. */
export const refusing: CliContext['dial'] = () =>
  Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));

/** As from a machine outside of the pod network. */
export const unreachable: CliContext['dial'] = () =>
  Promise.reject(Object.assign(new Error('connect EHOSTUNREACH'), { code: 'EHOSTUNREACH' }));

/** Of a pod whose node is down. */
const gone: PodDialer = () => Promise.reject(new Error('the forwarding was refused'));

export const now = Date.parse('2030-01-01T00:00:00Z');

function namesIn(folder: string, files: object): string[] {
  const prefix = `${folder}/`;
  const inside = Object.keys(files).filter((path) => path.startsWith(prefix));
  return [...new Set(inside.map((path) => path.slice(prefix.length).replace(/[/].*/, '')))];
}

export function world(options: WorldOptions = {}): World {
  const { files = {}, stdin = '', api, dial = refusing, forward = gone, program = 'clusterwright' } = options;
  const printed = { out: '', err: '' };
  return {
    printed,
    env: {},
    program,
    command: program,
    dial,
    handlers: (...settings) => Promise.resolve(handlersOf(engines, ...settings)),
    images: () => Promise.resolve([]),
    stdout: (text) => {
      printed.out += text;
    },
    stderr: (text) => {
      printed.err += text;
    },
    readText(path) {
      const text = files[path];
      if (text !== undefined) return Promise.resolve(text);
      const code = namesIn(path, files).length > 0 ? 'EISDIR' : 'ENOENT';
      return Promise.reject(Object.assign(new Error('no such file'), { code }));
    },
    readFolder: (path) => Promise.resolve(namesIn(path, files)),
    readStdin: () => Promise.resolve(stdin),
    connect(target): Promise<Connection> {
      if (api === undefined) return Promise.reject(new CredentialsError('~/.kube/config', 'cannot be read'));
      return Promise.resolve({
        client: createClient({
          transport: api,
          clock: new VirtualClock(now),
          random: () => 0.5,
          resourceOf: target.resourceOf,
        }),
        forward,
        credentials: fixedCredentials('https://test', { tls: {} }),
        namespace: 'team',
        cluster: `context ${target.context ?? 'test'}`,
        close: () => Promise.resolve(),
      });
    },
    agent: options.agent ?? (() => Promise.reject(new Error('there is no agent'))),
    now: () => now,
  };
}
