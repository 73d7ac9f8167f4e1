/** What is on a simulated data volume beside the server's own data: the pod's mark, and the traces of a copy. */
import type { Volume } from '../world/workload.ts';
import type { DataVolume } from './scripts/volume.ts';

/** The mark of the pod's scripts, next to the server's own files. */
export const marker = 'initialised';
export const markedAt = `${marker}: time`;

/** When the server received a copy last. */
export const receivedAt = 'dump.rdb: time';
/** There from the end of a copy until the append-only file holds it. */
export const unfinished = 'temp-appendonly.aof.incr';

export const termFile = 'term';

export function dataVolume(volume: () => Volume, ip: string, now: () => number): DataVolume {
  const numberAt = (name: string): number => Number(volume().get(name) ?? 0);
  return {
    now,
    term: () => String(volume().get(termFile) ?? ''),
    setTerm(term) {
      volume().set(termFile, term);
    },
    mark: () => volume().get(marker) as string | undefined,
    setMark(at) {
      volume().set(marker, ip);
      volume().set(markedAt, at);
    },
    dropMark() {
      volume().delete(marker);
    },
    isOvertaken: () =>
      volume().has(unfinished) || (volume().has(receivedAt) && numberAt(markedAt) <= numberAt(receivedAt)),
    forgetTimes() {
      volume().delete(unfinished);
      if (volume().has(receivedAt)) volume().set(receivedAt, -1);
      volume().set(markedAt, now());
    },
  };
}
