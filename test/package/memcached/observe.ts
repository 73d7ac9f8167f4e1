/** What each process says of itself: its version, or nothing within a second. */
import { type Children, type EngineContext, type Pod, within } from 'clusterwright/engine';
import { port } from './resources.js';

/** By name of the pod: the version, `1.6.38`. Absent: it does not answer. */
export interface MemcachedObserved {
  readonly versions: Readonly<Record<string, string>>;
}

export const nothingObserved: MemcachedObserved = { versions: {} };

const answerMs = 1_000;
/** No version is longer. */
const longest = 64;

export async function observe(children: Children, io: EngineContext): Promise<MemcachedObserved> {
  const answers = await Promise.all(
    children.pods.map(async (pod) => {
      const version = await versionOf(pod, io).catch(() => undefined);
      return version === undefined ? [] : [[pod.metadata.name, version] as const];
    }),
  );
  return { versions: Object.fromEntries(answers.flat()) };
}

async function versionOf({ metadata, status }: Pod, io: EngineContext): Promise<string | undefined> {
  const { podIP } = status ?? {};
  if (podIP === undefined) return undefined;
  return within(io, answerMs, metadata.name, async (signal) => {
    const stream = await io.dial(podIP, port, signal);
    signal.addEventListener('abort', () => stream.destroy(), { once: true });
    stream.write('version\r\n');
    let text = '';
    for await (const piece of stream) {
      text += String(piece);
      if (text.includes('\n') || text.length > longest) break;
    }
    return /^VERSION ([0-9.]{1,16})\r?\n/.exec(text)?.[1];
  });
}
