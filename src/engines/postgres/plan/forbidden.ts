/** What forbids everything: the operator stops and says so, because going on could begin a second history. */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { answering } from '../observe/observed.ts';
import { hasHeldData, heldBy, type Situation } from '../observe/situation.ts';

/** Undefined where nothing forbids to go on. */
export function forbidden(situation: Situation): Outcome | undefined {
  return foreignData(situation) ?? lostState(situation);
}

/** Patroni cannot elect without its ConfigMaps, and the operator does not know what they said. */
function lostState(situation: Situation): Outcome | undefined {
  const { missing } = situation.store;
  if (missing.length === 0 || !hasHeldData(situation)) return undefined;
  const lost = missing.length === 1 ? `ConfigMap ${missing[0]} is` : `ConfigMaps ${missing.join(', ')} are`;
  return blocked(
    'StateLost',
    `${lost} gone, with which Patroni elects a primary: the members that run go on as they are, and nobody is promoted; restore from a copy, such as a backup of the API server`,
  );
}

/** The members, the volumes and the store are about one database. */
function foreignData({ observed, claims, store }: Situation): Outcome | undefined {
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
  const [first] = told;
  const other = told.find(({ id }) => id !== first?.id);
  if (first === undefined || other === undefined) return undefined;
  return blocked(
    'ForeignData',
    `${first.who} is about the database ${first.id}, and ${other.who} about ${other.id}: nothing is changed before a person has removed the one that does not belong here`,
  );
}
