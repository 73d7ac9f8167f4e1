/**
 * What a member checks before it lets the others agree on a change of who is a member: etcd's strict reconfiguration
 * check. Connections count as they are seen by the member that was asked.
 */
import { type Refusal, refusal } from './entry.ts';
import type { Member } from './member.ts';

/** A connection counts when it has lasted so long. */
const healthyMs = 5_000;
/** Share of the leader's log that a learner must have. */
const inSync = 0.9;

const unhealthy = refusal('unhealthy cluster', 14);
const tooFewStarted = refusal('re-configuration failed due to not enough started members', 9);

const hasStarted = ({ name }: { readonly name: string }): boolean => name !== '';

function isConnected(member: Member, id: string): boolean {
  return id === member.id || (member.connectedMs(id) ?? 0) > healthyMs;
}

export function mayAdd(member: Member, isLearner: boolean): Refusal | undefined {
  const { voters } = member.state;
  const started = voters.filter(hasStarted).length;
  const isSecond = started === 1 && voters.length === 2;
  if (!isLearner && !isSecond && started < Math.floor((voters.length + 1) / 2) + 1) return tooFewStarted;
  return voters.every(({ id }) => isConnected(member, id)) ? undefined : unhealthy;
}

export function mayRemove(member: Member, id: string): Refusal | undefined {
  const { voters, members } = member.state;
  if (members.get(id)?.isLearner === true) return undefined;
  const others = voters.filter((row) => row.id !== id);
  if (others.filter(hasStarted).length < Math.floor(others.length / 2) + 1) return tooFewStarted;
  // Whoever is away is no part of the majority that there is.
  if (id !== member.id && member.connectedMs(id) === undefined) return undefined;
  const active = voters.filter((row) => isConnected(member, row.id)).length;
  return active - 1 < 1 + Math.floor((voters.length - 1) / 2) ? unhealthy : undefined;
}

/** Only a leader can tell. */
export function mayPromote(leader: Member, id: string): Refusal | undefined {
  const { voters, members } = leader.state;
  if (!members.has(id)) return refusal('member not found', 5);
  if (leader.matchOf(id) < leader.matchOf(leader.id) * inSync) {
    return refusal('can only promote a learner member which is in sync with leader', 9);
  }
  const started = voters.filter(hasStarted).length + 1;
  return started < Math.floor((voters.length + 1) / 2) + 1 ? tooFewStarted : undefined;
}
