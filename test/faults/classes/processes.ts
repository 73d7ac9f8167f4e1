/**
 * F16: the database processes die, hang, are cut off, run out of disk; commands to them get lost. So do the processes that
 * take and fetch backups, and the place where those are kept.
 */
import { agentFaults, upgradeFaults } from './agents.ts';
import { type Cell, type FaultGenerator, spread, type Variant, writesOf } from './fault-class.ts';

/** After a failover the primary is another, and more has to be written than without it. */
const otherWay = [
  { oracle: 'O3', why: 'a failover changes which pods are restarted, and when' },
  { oracle: 'O9', why: 'a failover has to be followed' },
] as const;

function commands(cell: Cell): readonly number[] {
  return writesOf(cell).flatMap(({ write = 0, verb }) => (verb === 'command' ? [write] : []));
}

/**
 * A replica that cannot write down what it is sent ends, and comes back; a primary takes no writes until there is room.
 * What it did not write down is lost with it: nobody stops it meanwhile, for a full disk is nothing that its operator sees.
 */
const fullDisks = (at: readonly number[]): readonly Variant[] =>
  (['primary', 0, 1, 2] as const).flatMap((member) =>
    at.map((ms): Variant => ({ faults: [{ do: 'fillDisk', at: { ms }, member, forMs: 12_000 }], mayDiffer: otherWay })),
  );

export const processFaults: FaultGenerator = {
  id: 'F16',
  title: 'database processes and commands',
  exhaustive: false,
  variants(cell) {
    const lost = commands(cell).map(
      (write): Variant => ({ faults: [{ do: 'loseReply', write, how: 'before' }], mayDiffer: otherWay }),
    );
    const agents = [...agentFaults(cell), ...upgradeFaults(cell)];
    if (cell.scenario.end === 'gone') return [...lost, ...agents];
    const at = spread([200, 3_000, 8_000, 20_000], cell.scenario.before === undefined ? 2 : 4);
    const befallen = (['primary', 0, 1, 2] as const).flatMap((member) =>
      at.flatMap((ms): Variant[] => [
        { faults: [{ do: 'kill', at: { ms }, member }], mayDiffer: otherWay },
        { faults: [{ do: 'freeze', at: { ms }, member, forMs: 15_000 }], mayDiffer: otherWay },
        { faults: [{ do: 'isolate', at: { ms }, member, forMs: 20_000 }], mayDiffer: otherWay },
      ]),
    );
    return [...lost, ...agents, ...befallen, ...(cell.scenario.engine === 'redis' ? fullDisks(at) : [])];
  },
};
