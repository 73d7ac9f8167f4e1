/** What a backup says that it holds beside what was found in a cluster that was made of it. */
import type { BackupSupport } from '../../engine/backup-support.ts';
import { tableText } from '../table.ts';

type Contents = Readonly<Record<string, string>>;

export interface Comparison {
  readonly text: string;
  /** Nothing differs. False where it could not be told, too. */
  readonly isSame: boolean;
}

/** `wanted` is undefined where the Backup does not say what it holds; empty where it says that it holds nothing. */
export function comparison(
  part: Pick<BackupSupport<unknown>, 'isSame'>,
  wanted: Contents | undefined,
  found: Contents,
): Comparison {
  if (wanted === undefined) {
    return { text: 'it can be restored; it does not say what it holds, so nothing was compared\n', isSame: false };
  }
  const isEmpty = Object.keys(wanted).length === 0;
  if (isEmpty && Object.keys(found).length === 0) {
    return {
      text: 'the backup is of an empty database, and so is what was restored: nothing to compare\n',
      isSame: true,
    };
  }
  const rows = Object.keys(isEmpty ? found : wanted).map((name) => ({
    cells: [name, wanted[name] ?? 'nothing', found[name] ?? 'nothing'],
    isSame: part.isSame(name, wanted[name] ?? '0', found[name]),
  }));
  const text = tableText(
    ['WHAT', 'BACKUP', 'RESTORED', ''],
    rows.map(({ cells, isSame }) => [...cells, isSame ? 'same' : 'DIFFERS']),
  );
  return { text, isSame: rows.every(({ isSame }) => isSame) };
}
