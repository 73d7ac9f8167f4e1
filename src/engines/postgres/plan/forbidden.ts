/** What forbids everything: the operator stops and says so, because going on could begin a second history. */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { answering } from '../observe/observed.ts';
import { heldBy, type Situation } from '../observe/situation.ts';
import { lostState } from './store.ts';

/** Undefined where nothing forbids to go on. */
export function forbidden(situation: Situation): Outcome | undefined {
  return foreignData(situation) ?? stateLost(lostState(situation));
}

/** Patroni cannot elect without its ConfigMaps, and the operator does not know what they said. */
function stateLost(names: readonly string[]): Outcome | undefined {
  if (names.length === 0) return undefined;
  const lost = names.length === 1 ? `ConfigMap ${names[0]} is` : `ConfigMaps ${names.join(', ')} are`;
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
