/** What keeps a cluster from being whole. As long as anything does, nobody is interrupted on purpose. */
import type { Cluster } from '../../../api/cluster.ts';
import { podProblem } from '../../../plan/pod-problem.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';
import { peerUrl } from '../names.ts';
import { isHealthy, type Member, nameOf, type Situation } from '../observe/situation.ts';
import { isVolumeFull } from '../observe/termination-message.ts';

/** One phrase a trouble, in a stable order; empty when every member votes, answers and is ready. */
export function memberProblems(situation: Situation, members: readonly Member[]): string[] {
  return members.flatMap((member) => {
    const problem = problemOf(situation, member);
    return problem === undefined ? [] : [problem];
  });
}

function problemOf({ cluster, pods, observed }: Situation, member: Member): string | undefined {
  const name = nameOf(cluster, member);
  if (member.index === undefined) return isForeign(name);
  if (member.isElsewhere === true) {
    const url = peerUrl(cluster, member.index);
    return `${name} has another peer URL in etcd's list than ${url}: give it that one with etcdctl member update`;
  }
  const pod = pods.get(member.index);
  if (pod === undefined) return `${name} has no pod`;
  const problem = podProblem(pod);
  if (problem !== undefined) return `${problem}${causeOf(pod)}`;
  if (member.live === undefined) {
    const silent = observed.members.find((candidate) => candidate.pod === name);
    return `${name} does not answer${silent?.state === 'silent' ? `: ${silent.why}` : ''}${causeOf(pod)}`;
  }
  if (member.isLearner) return `${name} copies the data and has no vote yet`;
  if (!isHealthy(member)) return `${name} knows no leader`;
  return podIsReady(pod) ? undefined : `${name} is not ready`;
}

/** As far as its process has said it at its end, in words of ours: its own might quote a password. */
function causeOf(pod: Pod): string {
  return isVolumeFull(pod) ? ': its volume is full, and needs a larger storage.size' : '';
}

/** Somebody has added it by hand: it votes, and we can neither see nor start it. */
function isForeign(name: string): string {
  return `${name} is a member that this cluster's pods know nothing of`;
}

/** For a cluster whose members have agreed on nothing: who of those that shall run does not. */
export function absent(situation: Situation, indexes: readonly number[]): string {
  const { cluster, pods, observed } = situation;
  const phrase = (index: number): string[] => {
    const name = nameOf(cluster, { index, name: '', id: '0' });
    const pod = pods.get(index);
    if (pod === undefined) return [`${name} has no pod`];
    const problem = podProblem(pod);
    if (problem !== undefined) return [`${problem}${causeOf(pod)}`];
    const member = observed.members.find((candidate) => candidate.pod === name);
    if (member?.state === 'silent') return [`${name} does not answer: ${member.why}${causeOf(pod)}`];
    return member?.leaderId === undefined ? [`${name} knows no leader`] : [];
  };
  return indexes.flatMap(phrase).join('; ');
}

export function wordsFor(cluster: Cluster, members: readonly Member[]): string {
  return members.map((member) => nameOf(cluster, member)).join(', ');
}
