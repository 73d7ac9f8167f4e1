/** Waiting for something that real I/O brings about. */
import { turn } from './virtual-clock.ts';

/** Resolves as soon as the condition holds; fails after twenty real seconds with what `describe` says. */
export async function eventually(condition: () => boolean, describe: () => string = () => ''): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`it did not happen within 20 s: ${condition} ${describe()}`);
    await turn();
  }
}
