/**
 * Standbys that look lost are asked a second time, and the primary after them. One look is not enough for what cannot be taken back: a
 * standby that reads its own log after a start is behind for a while, and one that answered after the primary may have more than the
 * primary had when it answered.
 */
import type { EngineContext } from '../../../engine/engine-context.ts';
import { isApart, type Loss, lossOf, upMs } from './lost-log.ts';
import type { LiveMember, LogPosition } from './observed.ts';
import type { Situation } from './situation.ts';

/** Between the looks: a standby that gets on by itself has moved by then. */
const betweenMs = 3000;

/** By both looks: they agree, and the standby has not moved. */
export function knownLoss(situation: Situation, standby: LiveMember): Loss | undefined {
  const loss = lossAt(situation, standby, (member) => member);
  const hasMoved = standby.later?.timeline !== standby.timeline || standby.later?.lsn !== standby.lsn;
  if (loss === undefined || hasMoved) return undefined;
  return lossAt(situation, standby, ({ later }) => later) === loss ? loss : undefined;
}

function lossAt(
  { primary, store, observed }: Situation,
  standby: LiveMember,
  look: (member: LiveMember) => LogPosition | undefined,
): Loss | undefined {
  if (primary === undefined || !isApart(standby)) return undefined;
  const [behind, ahead] = [look(standby), look(primary)];
  if (behind === undefined || ahead === undefined) return undefined;
  const ledMs = store.acquired === undefined ? 0 : observed.at - store.acquired;
  const surroundings = { history: store.history, logBegins: observed.logBegins, ledMs };
  return lossOf({ ...behind, upMs: upMs(standby) }, { ...ahead, upMs: upMs(primary) }, surroundings);
}

/** `look`: asks Patroni of a member once more. The members as they were, with what they said later. */
export async function lookAgain(
  situation: Situation,
  look: (member: LiveMember) => Promise<LiveMember | undefined>,
  io: Pick<EngineContext, 'sleep'>,
): Promise<ReadonlyMap<string, LogPosition>> {
  const { live, primary } = situation;
  const suspects = [...live.values()].filter((member) => lossAt(situation, member, (each) => each) !== undefined);
  if (primary === undefined || suspects.length === 0) return new Map();
  await io.sleep(betweenMs);
  const standbys = await Promise.all(suspects.map(look));
  // After them: what it says then, it has had before, or they would have it from nobody.
  const leader = await look(primary);
  const found = [
    ...standbys.flatMap((each) => (each !== undefined && isApart(each) ? [each] : [])),
    ...(leader?.role === 'primary' ? [leader] : []),
  ];
  return new Map(
    found.map(({ pod, timeline, lsn }): [string, LogPosition] => [
      pod,
      { ...(timeline === undefined ? {} : { timeline }), ...(lsn === undefined ? {} : { lsn }) },
    ]),
  );
}
