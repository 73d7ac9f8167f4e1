/** The archive of one cluster in a target: pieces are put, compared with what is there, and read back. */
import { createHash } from 'node:crypto';
import { archiveFolder, pieceIn, pieceKey } from '../../backup/archive-place.ts';
import type { ClusterIdentity } from '../../backup/identity.ts';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { Failure } from '../../engine/driver/failure.ts';
import type { LogPiece, LogStore, StoredPiece } from '../../engine/driver/log-archive.ts';
import type { Repository } from '../repository.ts';
import { sealed, unsealed } from './sealed.ts';

/** No engine has longer ones: files of WAL have 1 GiB at most. */
const longestPiece = 1024 ** 3;

export interface WritableLogStore extends LogStore {
  /**
   * Stores the piece, unless as much of it is there. Never replaces bytes by others.
   *
   * @throws Failure Occupied where the store has other bytes
   */
  put(piece: LogPiece): Promise<void>;
  remove(name: string): Promise<void>;
}

export function logStore(
  { target, keys }: Pick<Repository, 'target' | 'keys'>,
  cluster: ClusterIdentity,
  { random }: Pick<AgentContext, 'random'>,
): WritableLogStore {
  const folder = archiveFolder(cluster);
  /** What this process has stored of a piece: it only grows, so that it need not be read again. */
  let written: { readonly name: string; readonly bytes: number; readonly sha256: string } | undefined;

  const readKey = (key: string): Promise<Buffer> => unsealed(key, target.get(key), keys, longestPiece);
  const found = async (name: string): Promise<{ readonly content: Buffer; readonly isWhole: boolean } | undefined> => {
    for (const isWhole of [true, false]) {
      try {
        return { content: await readKey(pieceKey(folder, { name, isWhole })), isWhole };
      } catch (error) {
        if (!(error instanceof Failure) || error.reason !== 'NotFound') throw error;
      }
    }
    return undefined;
  };

  return {
    async list() {
      const pieces = new Map<string, StoredPiece>();
      for await (const { key } of target.list(folder)) {
        const piece = pieceIn(folder, key);
        if (piece !== undefined && pieces.get(piece.name)?.isWhole !== true) pieces.set(piece.name, piece);
      }
      return [...pieces.values()];
    },
    async read(name) {
      const piece = await found(name);
      if (piece === undefined) throw new Failure('NotFound', `there is no ${folder}/${name}`);
      return piece.content;
    },
    async put(piece) {
      const { name, content, isWhole } = piece;
      const isOwn =
        written?.name === name &&
        content.length >= written.bytes &&
        sha256(content.subarray(0, written.bytes)) === written.sha256;
      const before = isOwn ? undefined : await found(name);
      if (before !== undefined) {
        requireSame(`${folder}/${name}`, before.content, content);
        const hasAll =
          before.content.length > content.length ||
          (before.content.length === content.length && (before.isWhole || !isWhole));
        if (hasAll) return;
      }
      const key = pieceKey(folder, piece);
      await target.put(key, sealed(key, content, keys?.[0], random(32)));
      written = { name, bytes: content.length, sha256: sha256(content) };
      if (isWhole && (isOwn || before !== undefined)) await target.remove(pieceKey(folder, { name, isWhole: false }));
    },
    async remove(name) {
      for (const isWhole of [false, true]) await target.remove(pieceKey(folder, { name, isWhole }));
    },
  };
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** One of them is the beginning of the other. */
function requireSame(key: string, stored: Buffer, content: Buffer): void {
  const common = Math.min(stored.length, content.length);
  if (stored.subarray(0, common).equals(content.subarray(0, common))) return;
  throw new Failure('Occupied', `${key} is in the archive with other bytes than the database has: nothing is replaced`);
}
