/** The smallest program that a pod can run: it is there, says yes to its probes, and ends when it is told to. */
import type { Program } from '../world/workload.ts';

export interface TinyBehaviour {
  /** Milliseconds between SIGTERM and its end. Default 100. */
  readonly stopMs?: number;
  /** Answers to `exec`, by the last word of the command. Default true. */
  readonly answers?: Readonly<Record<string, () => boolean>>;
}

export function tinyProgram({ stopMs = 100, answers = {} }: TinyBehaviour = {}): Program {
  return ({ time, exit, volume, ip, pod }) => {
    let isAlive = true;
    const data = volume('/data');
    data?.set('starts', Number(data.get('starts') ?? 0) + 1);
    data?.set('last', `${pod.metadata.name} ${ip}`);
    return {
      exec: async (command) => isAlive && (answers[command.at(-1) ?? '']?.() ?? true),
      terminate: () =>
        void time.after(stopMs, () => {
          if (isAlive) exit(0);
          isAlive = false;
        }),
      kill() {
        isAlive = false;
      },
    };
  };
}
