/**
 * What a member's process said last, which its pod's status keeps: see `terminationMessagePolicy` in `pods.ts`.
 *
 * It is the end of the log, and the log quotes clients: a put that takes long is written down with its key. So only those
 * lines count with which etcd ends itself, and of them only what etcd has to say: its message and its error.
 */
import type { Pod } from '../../../resources/children.ts';

/** It resumes on a volume with no data: the roster names nobody whom it could ask for any. */
const blank = /cannot fetch cluster info from peer urls/;
/** It cannot read its own data. */
const unreadable = /crc mismatch|failed to read WAL, cannot be repaired|failed: proto: |failed to open database/;
/**
 * Its log ends before entries that it has acknowledged. etcd takes a record that it cannot read to the end for a write
 * that a crash has cut, and shortens the log by it and all that follow. The leader remembers more.
 */
const shortened = /tocommit\(\d+\) is out of range|raftLog\)\.commitTo\(/;
/** Its check at the start: some running member holds other data. Which of the two is wrong it does not know. */
const inconsistent = /found data inconsistency with peers/;

/** Neither its database nor its log can be written. */
const full = /no space left on device/;

/** `none`: nothing that says anything about its data. */
export type DataComplaint = 'blank' | 'unreadable' | 'shortened' | 'inconsistent' | 'none';

export function complaintOf(pod: Pod | undefined): DataComplaint {
  const words = lastWords(pod);
  if (blank.test(words)) return 'blank';
  if (unreadable.test(words)) return 'unreadable';
  if (shortened.test(words)) return 'shortened';
  return inconsistent.test(words) ? 'inconsistent' : 'none';
}

export function isVolumeFull(pod: Pod | undefined): boolean {
  return full.test(lastWords(pod));
}

/** Then the words are those of an earlier process: this one may be silent because its node is. */
export function isRunning(pod: Pod | undefined): boolean {
  return (pod?.status?.containerStatuses ?? []).some(({ state }) => state?.running !== undefined);
}

/** Where a process has ended more than once, those of the last one: the first time may have been an accident of its own. */
function lastWords(pod: Pod | undefined): string {
  const ended = (pod?.status?.containerStatuses ?? []).filter(({ restartCount = 0 }) => restartCount > 0);
  return ended
    .map(({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.message ?? '')
    .flatMap((log) => log.split('\n').flatMap(finalWords))
    .join('\n');
}

/** The stack after a panic of `commitTo` is almost as long as what a pod's status keeps: 2,048 bytes. */
const callOfCommitTo = /^go\.etcd\.io\/(?:etcd\/)?raft\/v3\.\(\*raftLog\)\.commitTo\(/;

/** Go's own lines after a panic, or an entry of the log with which etcd ends. The first line may be half of one. */
function finalWords(line: string): string[] {
  if (line.startsWith('panic: ') || callOfCommitTo.test(line)) return [line];
  if (!/^\{"level":"(?:fatal|panic)"/.test(line)) return [];
  const { msg, error } = entryOf(line);
  return [`${String(msg ?? '')}: ${String(error ?? '')}`];
}

interface LogEntry {
  readonly msg?: unknown;
  readonly error?: unknown;
}

function entryOf(line: string): LogEntry {
  try {
    return JSON.parse(line) as LogEntry;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}
