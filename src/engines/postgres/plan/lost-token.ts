/**
 * Members whose token Kubernetes refuses: somebody has deleted their ServiceAccount, and the operator has made it again. A token counts only
 * for the ServiceAccount that it was issued for. Without one, Patroni renews no lock, and PostgreSQL takes no writes.
 *
 * The kubelet asks for another token only towards the end of its life. A pod that starts gets one at once.
 */
import { type Plan, wait } from '../../../plan/plan.ts';
import { restartSteps } from '../../../plan/rollout.ts';
import type { Pod } from '../../../resources/children.ts';
import type { PostgresAction } from '../action.ts';
import { postgresNames } from '../names.ts';
import { podOf, type Situation } from '../observe/situation.ts';
import { tokenSeconds } from '../resources/pods.ts';
import { pausedByPerson } from './pause.ts';
import { recheckMs } from './restart.ts';

/** A pod that starts has its Patroni answer long before. Nobody waits longer for one: the others cannot do without a token. */
const patienceMs = 60_000;
/** By how much this clock may be behind that of the API server. */
const skewMs = 60_000;

/**
 * One at a time. Whoever was primary comes first: it has every commit, and nobody else can be elected. Undefined where nobody needs a token, or
 * all have got another one by now.
 */
export function planLostTokens(situation: Situation): Plan<PostgresAction> | undefined {
  const { cluster, children, roster, pods, store, observed } = situation;
  const account = children.get('ServiceAccount', postgresNames(cluster.metadata.name).account);
  const made = Date.parse(account?.metadata.creationTimestamp ?? '');
  if (Number.isNaN(made) || observed.at >= made + tokenSeconds * 1000) return undefined;
  // The clock of the API server has been set back since, and a pod that starts anew would be older once more.
  if (observed.at < made - skewMs) return undefined;
  const isRefused = (pod: Pod): boolean =>
    pod.metadata.deletionTimestamp === undefined && Date.parse(pod.metadata.creationTimestamp ?? '') < made;
  const due = [...roster.keys()].flatMap((index) => {
    const pod = pods.get(index);
    return pod !== undefined && isRefused(pod) ? [pod] : [];
  });
  const former = store.leader ?? store.sync?.leader;
  const next = due.find(({ metadata }) => metadata.name === former) ?? due[0];
  if (next === undefined) return undefined;
  const words = 'Kubernetes refuses its token, since its ServiceAccount has been made again';
  const paused = pausedByPerson(situation);
  if (paused !== undefined)
    return heldByPause(situation, `${next.metadata.name} is to restart: ${words}. But ${paused}`);
  const isDue = (index: number): boolean => due.some(({ metadata }) => metadata.name === podOf(situation, index));
  const coming = [...roster.keys()].find((index) => !isDue(index) && isComing(situation, index, made));
  return coming === undefined
    ? { steps: restartSteps(next), outcome: wait('Restarting', `${next.metadata.name} restarts: ${words}`, recheckMs) }
    : {
        steps: [],
        outcome: wait(
          'Restarting',
          `${podOf(situation, coming)} starts, then ${next.metadata.name}: ${words}`,
          recheckMs,
        ),
      };
}

/**
 * Without the API server, a primary whose Patroni is paused goes on taking writes, and PostgreSQL that stops is started by nobody: to restart
 * would be the outage. The members cannot end the pause themselves.
 */
function heldByPause({ cluster }: Situation, why: string): Plan<PostgresAction> {
  const { config } = postgresNames(cluster.metadata.name).state;
  const message = `${why}. End the pause in the annotation config of ConfigMap ${config}`;
  return { steps: [], outcome: wait('FailoverPaused', message, recheckMs * 10) };
}

/** It stops for this, or its Patroni does not answer yet. Until its process has ended, Patroni answers. */
function isComing({ pods, live, observed }: Situation, index: number, made: number): boolean {
  const { deletionTimestamp, creationTimestamp = '' } = pods.get(index)?.metadata ?? {};
  // The API server sets it to the end of the grace.
  if (deletionTimestamp !== undefined) return observed.at <= Date.parse(deletionTimestamp);
  if (live.has(index)) return false;
  const begun = Date.parse(creationTimestamp);
  return observed.at - (begun > made ? begun : made) < patienceMs;
}
