/** Why a cluster is not whole, in words. Nothing voluntary is done while there is a reason. */
import { podProblem } from '../../../plan/pod-problem.ts';
import { podIsReady } from '../../../resources/children.ts';
import { isPrimary, podOf, type Situation } from '../observe/situation.ts';
import { isStrict } from '../resources/patroni-config.ts';
import { endedBlank, isUnmovable } from './failed-member.ts';

/** One for each member that is not well, and one where commits wait for too few; empty where everybody is. */
export function memberProblems(situation: Situation): string[] {
  const problems = [...situation.roster.keys()].flatMap((index) => problemOf(situation, index) ?? []);
  const stopped = stoppedWrites(situation);
  if (problems.length > 0) return [...problems, ...stopped];
  return stopped.length > 0 ? stopped : synchronousProblem(situation);
}

/**
 * With `strict`, Patroni has commits wait for any standby where there is none. It takes that back only for a standby, or when it starts: by
 * itself it does not, where `strict` is not in the spec any more.
 */
function stoppedWrites({ spec, primary }: Situation): string[] {
  const server = primary?.server;
  if (primary === undefined || server?.state !== 'seen' || !server.facts.waitsFor.includes('*')) return [];
  const words = `commits wait for a standby, and none is there (synchronous_standby_names of ${primary.pod} is ${server.facts.waitsFor})`;
  return isStrict(spec)
    ? [words]
    : [
        `${words}: Patroni keeps this although synchronous.strict does not count any more; delete the pod ${primary.pod}, which then starts without it`,
      ];
}

/**
 * Patroni names the standbys a while after they stream. Until then commits are acknowledged by the primary alone; and as long as one of them is
 * not named, fewer losses are survived than the spec says.
 */
function synchronousProblem({ live, spec, roster, primary, store }: Situation): string[] {
  if (primary === undefined || spec.synchronous.count === 0 || roster.size < 2) return [];
  const { server } = primary;
  if (server?.state === 'seen' && server.facts.waitsFor === '')
    return [`commits wait for nobody: synchronous_standby_names of ${primary.pod} is empty`];
  // A standby still says that it counts for a moment after a switchover: by what the former primary has written.
  if (store.sync !== undefined && store.sync.leader !== primary.pod)
    return [`${primary.pod} has yet to name the standbys that commits wait for`];
  const others = [...live.values()].filter(({ pod, isSynchronous }) => pod !== primary.pod && !isSynchronous);
  return others.length === 0 ? [] : [`commits do not wait for ${others.map(({ pod }) => pod).join(', ')} yet`];
}

export function problemOf(situation: Situation, index: number): string | undefined {
  const { pods, live, observed, primary } = situation;
  const name = podOf(situation, index);
  const pod = pods.get(index);
  if (pod === undefined) return `${name} has no pod`;
  if (pod.metadata.deletionTimestamp !== undefined) return `${name} is being stopped`;
  const blank = endedBlank(pod);
  if (blank !== undefined) return `${name} does not start: ${blank}, and it has had data`;
  if (isUnmovable(pod))
    return `${name} does not start: an unfinished database on its volume cannot be moved aside (see its log). If that lasts: no member has had the lock, so there are no commits: set deletionPolicy to Delete, delete the cluster, and create it again`;
  const problem = podProblem(pod);
  if (problem !== undefined) return problem;
  const member = live.get(index);
  if (member === undefined) {
    const silent = observed.members.find((one) => one.pod === name);
    return `${name} does not answer${silent?.state === 'silent' ? ` (${silent.why})` : ''}`;
  }
  if (member.postgres !== 'running') return `PostgreSQL of ${name} is ${member.postgres}`;
  const { server } = member;
  if (server?.state === 'unknown') return `PostgreSQL of ${name} does not let the operator in (${server.why})`;
  const takesWrites = server?.state === 'seen' ? !server.facts.inRecovery : member.role === 'primary';
  if (isPrimary(situation, member)) {
    if (!takesWrites) return `PostgreSQL of ${name} takes no writes yet`;
    return podIsReady(pod) ? undefined : `${name} is not ready`;
  }
  if (takesWrites || member.role === 'primary') return `${name} takes writes without the lock`;
  if (primary !== undefined && member.timeline !== primary.timeline)
    return `${name} is on timeline ${member.timeline ?? 'unknown'}, and the primary on ${primary.timeline ?? 'unknown'}`;
  if (!member.isStreaming) return `${name} does not stream from the primary`;
  return podIsReady(pod) ? undefined : `${name} is not ready`;
}
