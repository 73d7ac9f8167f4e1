/** What forbids everything: the operator stops and says so, because going on could begin a second history. */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import type { Job } from '../../../resources/children.ts';
import { postgresNames } from '../names.ts';
import { answering } from '../observe/observed.ts';
import { heldBy, type Situation } from '../observe/situation.ts';
import { upgradeJobName } from '../resources/upgrade-job.ts';
import { upgradeKey } from '../resources/upgrade-record.ts';
import { isPauseWritten } from './pause.ts';
import { offers } from './recovery-request.ts';
import { recheckMs } from './restart.ts';
import { lostState } from './store.ts';

/**
 * A major upgrade is under way, and nobody knows how far it is: its record cannot be read, or it is gone, alone or with the roster, and what
 * only an upgrade does is still there. A server that started now could run on a volume that pg_upgrade is changing.
 */
export function unreadableRecord(situation: Situation): Outcome | undefined {
  const { cluster, isRecordUnreadable, upgrade, roster } = situation;
  const isUpgraded = isPauseWritten(situation) === true || jobsOnVolumes(situation).length > 0;
  const isGone = upgrade === undefined && (roster.size === 0 ? isUpgraded : jobsOnVolumes(situation).some(isAtWork));
  if (!isRecordUnreadable && !isGone) return undefined;
  const { roster: record, state } = postgresNames(cluster.metadata.name);
  const what = `a major upgrade is under way, and key ${upgradeKey} of ConfigMap ${record} ${isGone ? 'is gone' : 'cannot be read'}: nothing is started or stopped before a person has restored it`;
  // A person may have paused Patroni before the resource was deleted and made again: then there was never a record.
  const isPauseAlone = isGone && jobsOnVolumes(situation).length === 0;
  const message = isPauseAlone
    ? `Patroni is paused (pause: true in the annotation config of ConfigMap ${state.config}), and nothing says who has paused it. If a person has, end the pause: take it out of that annotation, or run patronictl resume where a member runs. Otherwise ${what}`
    : what;
  return blocked('UpgradeRecordUnreadable', message);
}

/** Those that change the data of the leader's volume. */
function jobsOnVolumes({ cluster, children }: Situation): readonly Job[] {
  const modes = ['upgrade', 'undo'] as const;
  const names = modes.map((mode) => upgradeJobName(cluster.metadata.name, { mode, index: 0 }));
  return children.jobs.filter(({ metadata }) => names.includes(metadata.name));
}

function isAtWork({ status }: Job): boolean {
  return !(status?.conditions ?? []).some(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
}

/** Patroni cannot elect without its ConfigMaps, and the operator does not know what they said. */
export function stateLost(situation: Situation): Outcome | undefined {
  const names = lostState(situation);
  if (names.length === 0) return undefined;
  const lost = names.length === 1 ? `ConfigMap ${names[0]} is` : `ConfigMaps ${names.join(', ')} are`;
  return blocked(
    'StateLost',
    `${lost} gone, with which Patroni elects a primary: the members that run go on as they are, and nobody is promoted; restore from a copy, such as a backup of the API server${offers(situation)}`,
    recheckMs,
  );
}

/**
 * Under Retain, the resource was deleted and made again without `walStorage`: the data on the volumes leads to logs that no pod would mount.
 * The rule on the field compares with the resource before, and there was none.
 */
export function logWithoutVolume({ spec, claims, walClaims }: Situation): Outcome | undefined {
  const kept = [...walClaims].filter(([index]) => heldBy(claims.get(index)) !== undefined);
  if (spec.walStorage !== undefined || kept.length === 0) return undefined;
  const names = kept.map(([, { metadata }]) => metadata.name).join(', ');
  return blocked(
    'WalStorageMissing',
    `the volumes ${names} have the log of members, and the spec has no walStorage: nothing is started before it has; make the resource again with it`,
  );
}

/**
 * The resource was deleted, then its volumes, and the resource was created again. New members would never start, because no member has
 * the data. Only a person may decide that an empty database is wanted. No process is ever started on volumes of members that have left.
 */
export function volumesGone({
  cluster,
  spec,
  store,
  claims,
  sets,
  live,
  roster,
  children,
}: Situation): Outcome | undefined {
  const isAnyThere = claims.size > 0 || sets.size > 0 || live.size > 0 || roster.size > 0;
  const isOfEarlier = store.systemId !== undefined || store.hasLed === true;
  if (!isOfEarlier || isAnyThere || spec.instances === 0) return undefined;
  const database = store.systemId === undefined ? '' : ` (database ${store.systemId})`;
  const names = Object.values(postgresNames(cluster.metadata.name).state).join(', ');
  const left = children.claims.map(({ metadata }) => metadata.name).join(', ');
  const besides = left === '' ? '' : ` but those of members that have left (${left})`;
  return blocked(
    'DataLost',
    `the ConfigMaps ${names} are of an earlier cluster of this name${database}, and it has no volume${besides}: nothing is started; bring the volumes back, or delete these ConfigMaps to begin with an empty database`,
  );
}

/**
 * The members, the volumes and the store are about one database. An upgrade gives the data another system identifier: while
 * it is written down, and no member runs, its two are one database. Nothing else may change it.
 */
export function foreignData({ observed, claims, store, upgrade }: Situation): Outcome | undefined {
  const isSwitching = upgrade?.stage === 'switching';
  const isOfUpgrade = (id: string): boolean => isSwitching && (id === upgrade.oldSystem || id === upgrade.newSystem);
  const told = [
    ...(store.systemId === undefined ? [] : [{ id: store.systemId, who: 'Patroni’s ConfigMap' }]),
    ...[...claims.values()].flatMap((claim) => {
      const id = heldBy(claim);
      return id === undefined ? [] : [{ id, who: `volume ${claim.metadata.name}` }];
    }),
    ...answering(observed.members).flatMap(({ systemId, pod }) =>
      systemId === undefined ? [] : [{ id: systemId, who: pod }],
    ),
  ];
  const others = told.filter(({ id }) => !isOfUpgrade(id));
  const [first] = isSwitching ? [{ id: upgrade.oldSystem, who: 'the upgrade' }] : others;
  const other = others.find(({ id }) => id !== first?.id);
  if (first === undefined || other === undefined) return undefined;
  return blocked(
    'ForeignData',
    `${first.who} is about the database ${first.id}, and ${other.who} about ${other.id}: nothing is changed before a person has removed the one that does not belong here`,
  );
}
