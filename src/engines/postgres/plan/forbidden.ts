/** What forbids everything: the operator stops and says so, because going on could begin a second history. */
import { blocked, type Outcome } from '../../../plan/plan.ts';
import { answering } from '../observe/observed.ts';
import { heldBy, type Situation } from '../observe/situation.ts';
import { offers } from './recovery-request.ts';
import { recheckMs } from './restart.ts';
import { lostState } from './store.ts';

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

/** The members, the volumes and the store are about one database. */
export function foreignData({ observed, claims, store }: Situation): Outcome | undefined {
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
