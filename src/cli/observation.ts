/**
 * Asking the database processes from a command line.
 *
 * They are dialled at the addresses of their pods, as the controller does. Where the pod network does not reach this
 * machine nobody answers at all, which is told apart from a database that is down: silence here says nothing about the
 * database, so nothing that an engine concludes from it may be shown.
 */
import type { Cluster } from '../api/cluster.ts';
import type { EngineIO, RegisteredEngine, Survey } from '../engines/engine.ts';
import type { Children } from '../resources/children.ts';
import { ApiError } from '../runtime/api-error.ts';
import type { KubeClient } from '../runtime/client.ts';
import { systemClock } from '../runtime/clock.ts';
import { createSecretReader, type Dial, engineIO } from '../runtime/engine-io.ts';

export interface Observed {
  readonly survey: Survey;
  /** Why the processes were not heard, in words; undefined when they were, or when there was none to ask. */
  readonly unheard?: string;
}

export interface ObserveOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly dial: Dial;
  /** False: the processes are left alone. */
  readonly ask: boolean;
}

export async function observe(
  engine: RegisteredEngine,
  cluster: Cluster,
  children: Children,
  options: ObserveOptions,
): Promise<Observed> {
  const unheard = async (why: string): Promise<Observed> => ({
    survey: await engine.survey(cluster, children, deafIO(cluster)),
    unheard: why,
  });
  if (!options.ask) return unheard('the database processes were not asked');
  const tracked = trackedDial(options.dial);
  try {
    const survey = await engine.survey(cluster, children, askingIO(cluster, options.client, tracked.dial));
    return tracked.reach() === 'unreachable'
      ? { survey, unheard: 'the pod network cannot be reached from this machine' }
      : { survey };
  } catch (error) {
    if (!isForbiddenSecret(error)) throw error;
    return unheard('you may not read the Secret with the password');
  }
}

function isForbiddenSecret(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && error.path.includes('/secrets/');
}

function askingIO({ metadata }: Cluster, client: Pick<KubeClient, 'get'>, dial: Dial): EngineIO {
  const clock = systemClock;
  const secrets = createSecretReader({ client, clock, onValue: () => undefined });
  return engineIO({ namespace: metadata.namespace, secrets, dial, clock, signal: new AbortController().signal });
}

/** Nobody is dialled, so nobody sees what stands in for the password. */
function deafIO({ metadata }: Cluster): EngineIO {
  const read = (): Promise<Record<string, string>> => Promise.resolve(new Proxy({}, { get: () => '' }));
  const secrets = { read, learn: () => undefined };
  const dial: Dial = () => Promise.reject(new Error('not asked'));
  const signal = new AbortController().signal;
  return engineIO({ namespace: metadata.namespace, secrets, dial, clock: systemClock, signal });
}

/** `untried`: there was no process to ask. `unreachable`: no host answered, not even by a refusal. */
export type Reach = 'untried' | 'reached' | 'unreachable';

export interface TrackedDial {
  readonly dial: Dial;
  readonly reach: () => Reach;
}

export function trackedDial(dial: Dial): TrackedDial {
  let tried = false;
  let reached = false;
  return {
    async dial(host, port, signal) {
      tried = true;
      try {
        const socket = await dial(host, port, signal);
        reached = true;
        return socket;
      } catch (error) {
        // A host that refuses is a host.
        const { code } = error as { readonly code?: unknown };
        if (code === 'ECONNREFUSED' || code === 'ECONNRESET') reached = true;
        throw error;
      }
    },
    reach: () => (reached ? 'reached' : tried ? 'unreachable' : 'untried'),
  };
}
