/** The primary's part in quorum commits: whom its commits wait for, and whom an election asks. */
import { isSyncActive } from './election.ts';
import type { Participant } from './participant.ts';
import { nextTransition } from './quorum.ts';
import type { Server } from './server.ts';
import type { View } from './store.ts';

/** Commits of the new primary wait for those that an election would ask. */
export function waitAsBefore(own: string, view: View, server: Server): void {
  if (!isSyncActive(view)) {
    server.setSynchronous([], 0);
    return;
  }
  const members = [...new Set([view.sync.leader, ...view.sync.voters])];
  const others = members.filter((name) => name !== own);
  const count = members.length - view.sync.quorum - (members.includes(own) ? 1 : 0);
  server.setSynchronous(others, Math.max(0, count));
}

export async function synchronize(member: Participant, view: View, server: Server): Promise<void> {
  const { store } = member.host;
  if (member.settings.synchronous_mode !== 'quorum') {
    if (view.sync.leader !== '') await store.write('sync', { leader: null, sync_standby: null, quorum: null });
    return server.setSynchronous([], 0);
  }
  const began = member.now;
  const wanted = Number(member.settings.synchronous_node_count ?? 1);
  const isStrict = member.settings.synchronous_mode_strict === true;
  let now = view;
  if (now.sync.leader === '') {
    await store.write('sync', { leader: member.name, sync_standby: '', quorum: '0' }, now.versions.sync);
    now = member.look();
  }
  while (member.now - began < member.roundMs && server.isUp && !member.isTerminating) {
    const names = [...server.synchronous.names];
    const known = new Set(now.members.map(({ name }) => name));
    const active = server.followers.filter((name) => known.has(name));
    const waiting = { names, count: server.synchronous.count };
    const isCaughtUp = server.caughtUp(names) >= waiting.count;
    const step = nextTransition(member.name, now.sync, waiting, active, wanted, isCaughtUp);
    if (step === undefined) {
      if (isCaughtUp || names.length === 0) return;
      await member.pause(1_000);
    } else if (step.change === 'server') {
      if (isStrict && step.count === 0) {
        // Nobody has this name: commits wait.
        server.setSynchronous(['*'], 1);
        return;
      }
      if (step.names.length === 0 && names.length === 0) return;
      server.setSynchronous(step.names, step.count);
      if (names.length === 0) await member.pause(1_000);
    } else {
      const isWritten = await store.write(
        'sync',
        { leader: member.name, sync_standby: step.voters.join(','), quorum: String(step.quorum) },
        now.versions.sync,
      );
      if (!isWritten) return;
      // Right after a promotion nobody is connected yet.
      if (now.sync.leader !== member.name && !active.some((name) => names.includes(name))) return;
    }
    now = member.look();
  }
}
