/** For stories of etcd clusters whose members may hold different data. */
import type { Comparison } from '../../src/engines/etcd/observe/observed.ts';
import { memberId, type PodChange, type Story } from './etcd-situation.ts';

export const corrupt = (...numbers: readonly number[]): Pick<Story, 'alarms'> => ({
  alarms: numbers.map((number) => ({ memberId: memberId(number), type: 'CORRUPT' })),
});
export const nobody: Pick<Story, 'alarms'> = { alarms: [{ memberId: '0', type: 'CORRUPT' }] };

/** By number: the hash, behind a `/` the revision up to which the history is dropped; `?` where it tells none. */
export const holding = (held: Readonly<Record<number, string>>): Pick<Story, 'observed'> => ({
  observed: {
    comparison: {
      revision: '100',
      voices: Object.entries(held).map(([number, text]): Comparison['voices'][number] => {
        const who = { pod: `db-${number}-0`, memberId: memberId(Number(number)) };
        const [hash = '', compacted = '5'] = text.split('/');
        return text === '?' ? { ...who, why: 'it did not answer' } : { ...who, hash, compacted };
      }),
    },
  },
});

/** While a CORRUPT alarm stands the kubelet takes nobody for ready. */
export const unready: Pick<Story, 'pods'> = { pods: { all: 'unready' } };
export const inconsistent: PodChange = {
  crashingForMs: 10_000,
  restarts: 2,
  lastWords: 'e73e6cb06bc33a36 found data inconsistency with peers',
};
export const endless: PodChange = { ...(inconsistent as object), crashingForMs: 3_600_000, restarts: 20 };
