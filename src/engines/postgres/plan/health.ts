/** Why a cluster is not whole, in words. Nothing voluntary is done while there is a reason. */
import { podProblem } from '../../../plan/pod-problem.ts';
import { podIsReady } from '../../../resources/children.ts';
import { isPrimary, podOf, type Situation } from '../observe/situation.ts';
import { endedBlank } from './failed-member.ts';

/** One for each member that is not well, and one where commits wait for too few; empty where everybody is. */
export function memberProblems(situation: Situation): string[] {
  const problems = [...situation.roster.keys()].flatMap((index) => problemOf(situation, index) ?? []);
  return problems.length > 0 ? problems : synchronousProblem(situation);
}

/** Patroni names the standbys a while after they stream. Until then commits are acknowledged by the primary alone. */
function synchronousProblem({ live, spec, roster, primary }: Situation): string[] {
  const wanted = Math.min(spec.synchronous.count, roster.size - 1);
  const found = [...roster.keys()].filter((index) => live.get(index)?.isSynchronous === true).length;
  if (primary === undefined) return [];
  const { server } = primary;
  if (wanted > 0 && server?.state === 'seen' && server.facts.waitsFor === '')
    return [`commits wait for nobody: synchronous_standby_names of ${primary.pod} is empty`];
  if (found >= wanted) return [];
  return [`commits wait for ${found} standby(s), and ${wanted} are wanted`];
}

export function problemOf(situation: Situation, index: number): string | undefined {
  const { pods, live, observed, primary } = situation;
  const name = podOf(situation, index);
  const pod = pods.get(index);
  if (pod === undefined) return `${name} has no pod`;
  if (pod.metadata.deletionTimestamp !== undefined) return `${name} is being stopped`;
  if (endedBlank(pod)) return `${name} does not start: its volume is blank, and it has had data`;
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
