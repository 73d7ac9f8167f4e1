/**
 * Who holds the same keys, by the hashes that voters tell at one revision. Equal hashes of a majority are the only proof
 * that there is: an alarm, and what a member says when it does not start, tell that two differ, and not who is right.
 */
import type { Cluster } from '../../../api/cluster.ts';
import type { Voice } from '../observe/observed.ts';
import { isHealthy, type Member, nameOf, quorumOf, type Situation, voters } from '../observe/situation.ts';
import { wordsFor } from './health.ts';

export interface Verdict {
  /** Members that hold the same; several groups where some differ. Without those that could not be compared. */
  readonly groups: readonly (readonly Member[])[];
  /** Members that are well and could not be compared, each with why. */
  readonly unheard: readonly Unheard[];
  /** Members that are not well. */
  readonly away: readonly Member[];
}

interface Unheard {
  readonly member: Member;
  readonly why: string;
}

/** `among`: voters, whether they are well or not. */
export function verdictOn({ observed }: Situation, among: readonly Member[]): Verdict {
  const voices = observed.comparison?.voices ?? [];
  const voiceOf = ({ id }: Member): Voice | undefined => voices.find(({ memberId }) => memberId === id);
  const healthy = among.filter(isHealthy);
  const compacted = commonest(
    healthy.flatMap((member) => {
      const voice = voiceOf(member);
      return voice === undefined || 'why' in voice ? [] : [voice.compacted];
    }),
  );
  const groups = new Map<string, Member[]>();
  const unheard: Unheard[] = [];
  for (const member of healthy) {
    const voice = voiceOf(member);
    if (voice === undefined || 'why' in voice) {
      unheard.push({ member, why: voice?.why ?? (member.isLearner ? 'it has no vote' : 'it was not asked') });
    } else if (voice.compacted !== compacted) {
      // Its hash says nothing, neither of equal data nor of different data.
      unheard.push({ member, why: 'its history is dropped up to another revision' });
    } else groups.set(voice.hash, [...(groups.get(voice.hash) ?? []), member]);
  }
  return {
    groups: [...groups.values()].sort((a, b) => b.length - a.length),
    unheard,
    away: among.filter((member) => !isHealthy(member)),
  };
}

function commonest(texts: readonly string[]): string | undefined {
  const times = (text: string): number => texts.filter((other) => other === text).length;
  return [...texts].sort((a, b) => times(b) - times(a))[0];
}

/** The majority of all voters, where everybody among these who is well holds the same; undefined where nothing is proven. */
export function majorityAmong(situation: Situation, among: readonly Member[]): readonly Member[] | undefined {
  const { groups, unheard } = verdictOn(situation, among);
  const [first, ...others] = groups;
  if (first === undefined || others.length > 0 || unheard.length > 0) return undefined;
  return first.length >= quorumOf(voters(situation.members ?? []).length) ? first : undefined;
}

/** The others prove that a member, which does not run, is the one whose data is wrong. */
export function isOutvoted(situation: Situation, member: Member): boolean {
  const others = voters(situation.members ?? []).filter(({ id }) => id !== member.id);
  return majorityAmong(situation, others) !== undefined;
}

/** For people. Without numbers, which change with every write. */
export function verdictWords(cluster: Cluster, { groups, unheard, away }: Verdict): string {
  return [
    ...groups.map((group, place) => `${place === 0 ? 'one' : 'another'} state in ${wordsFor(cluster, group)}`),
    ...unheard.map(({ member, why }) => `${nameOf(cluster, member)} cannot be compared: ${why}`),
    ...(away.length === 0 ? [] : [`${wordsFor(cluster, away)} away`]),
  ].join('; ');
}
