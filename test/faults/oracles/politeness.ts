/** O9: a fault costs the API server little: few more writes, and no request before the time that it asked for. */
import type { Oracle, RunRecord } from '../record.ts';
import { targetOf } from '../wire/request.ts';

/** A new process looks at everything anew and writes status and roles again where it must. */
const perLife = 6;

function impatient({ entries }: RunRecord): string[] {
  const found: string[] = [];
  const blocked = new Map<string, number>();
  for (const { request, status, at, what, life } of entries) {
    if (request === undefined) continue;
    const key = `${life} ${request.method} ${request.path}`;
    const until = blocked.get(key);
    if (until !== undefined && at < until)
      found.push(`${request.method} ${what} after ${at} ms, asked to wait until ${until} ms`);
    if (status === 429) blocked.set(key, at + 1000);
  }
  return found;
}

/** Complete sets that were asked for, a minute and resource. What the server refuses costs it little. */
function relists({ entries, beganAt, endedAt }: RunRecord): string[] {
  const minutes = Math.max(1, (endedAt - beganAt) / 60_000);
  const perResource = new Map<string, number>();
  for (const { request, verb, life, status = 0 } of entries) {
    if (request === undefined || status >= 500) continue;
    const complete = verb === 'list' || (verb === 'watch' && request.query?.sendInitialEvents === 'true');
    const key = `${life} ${targetOf(request.path).resource}`;
    if (complete) perResource.set(key, (perResource.get(key) ?? 0) + 1);
  }
  return [...perResource].flatMap(([key, count]) =>
    count / minutes <= 20 ? [] : [`${count} complete sets of ${key} in ${minutes.toFixed(1)} minutes`],
  );
}

export const politeness: Oracle = {
  id: 'O9',
  promise: 'at most half as many writes again, no request too early, no storm of lists',
  check(run, reference) {
    const { writes, writeBudget, plan } = run;
    const isUndisturbed = plan.faults.length === 0;
    const allowed = 1.5 * reference.writes + perLife * run.lives.length;
    return [
      ...(isUndisturbed && writes > writeBudget ? [`${writes} writes without a fault, where ${writeBudget} do`] : []),
      ...(run.writes > allowed ? [`${run.writes} writes, where the undisturbed run needs ${reference.writes}`] : []),
      ...impatient(run).slice(0, 3),
      ...relists(run),
    ];
  },
};
