/** Who we are called as. kubectl runs a program on the PATH called `kubectl-clusterwright` as a command of its own. */
import { basename } from 'node:path';

const own = 'clusterwright';

/** @param script `process.argv[1]`, which is the link that was run and not its target */
export function programName(script: string | undefined): string {
  return basename(script ?? '').startsWith(`kubectl-${own}`) ? `kubectl ${own}` : own;
}

/** kubectl asks a program of this name what may follow, with the words so far as its arguments. */
export function isKubectlCompletion(script: string | undefined): boolean {
  return basename(script ?? '') === `kubectl_complete-${own}`;
}

/** What to type at a shell to run this program again: in a checkout, its script is not on the PATH. */
export function commandName(script: string | undefined): string {
  return basename(script ?? '') === 'cli.js' ? `npx ${own}` : programName(script);
}
