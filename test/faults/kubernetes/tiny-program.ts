/**
 * The smallest program that a pod can run: it is there, says yes to its probes, and ends when it is told to; or by itself
 * where its command says so, with the words that it is to leave.
 */
import type { Program } from '../world/workload.ts';

/** Until a command that only ends has done so. */
const endMs = 100;

export interface TinyBehaviour {
  /** Milliseconds between SIGTERM and its end. Default 100. */
  readonly stopMs?: number;
  /** Answers to `exec`, by the last word of the command. Default true. */
  readonly answers?: Readonly<Record<string, () => boolean>>;
}

export function tinyProgram({ stopMs = 100, answers = {} }: TinyBehaviour = {}): Program {
  return ({ time, exit, volume, ip, pod, command, leave }) => {
    let isAlive = true;
    const data = volume('/data');
    data?.set('starts', Number(data.get('starts') ?? 0) + 1);
    data?.set('last', `${pod.metadata.name} ${ip}`);
    const [, words, code] = /^(?:printf (\S+) > \S+; )?exit (\d+)$/.exec(command.at(-1) ?? '') ?? [];
    if (code !== undefined) {
      time.after(endMs, () => {
        if (!isAlive) return;
        isAlive = false;
        if (words !== undefined) leave(words);
        exit(Number(code));
      });
    }
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
