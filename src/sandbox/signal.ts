/** Signals to processes that may be gone already. */
import { codeOf } from './error.ts';

/** Sends a signal; false when there is no such process any more. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}
