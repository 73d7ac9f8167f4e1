/** What must hold after every run on real pods, whatever its plan did. Each oracle is a function of the evidence alone. */
import { unforeseenIn } from '../../support/foresight-report.ts';
import { statusOf } from '../../support/redis-view.ts';
import { isApart } from '../foresight/foresight.ts';
import type { Violation } from '../record.ts';
import { targetOf } from '../wire/request.ts';
import { differences } from './end-state.ts';
import type { Evidence, Reference } from './evidence.ts';
import type { Answered } from './witness.ts';

type Check = (run: Evidence, reference: Reference | undefined) => readonly string[];

/** Writes that count: those that changed an object, leases and events apart. */
export function changes(writes: readonly Answered[]): readonly Answered[] {
  return writes.filter(({ status, path }) => {
    const { resource } = targetOf(path);
    return status < 300 && resource !== 'leases' && resource !== 'events';
  });
}

export function wordsOf({ method, path, status }: Pick<Answered, 'method' | 'path' | 'status'>): string {
  return `${method} ${path} (${status})`;
}

/** Pods of one set have one count: which of them it was is history. */
function keyOf(resource: string, name: string): string {
  return resource === 'pods' ? `pods/${name.replace(/-\d+$/, '-N')}` : `${resource}/${name}`;
}

/** How often objects came to be, and were gone. */
export function countsOf({ happenings }: Pick<Evidence, 'happenings'>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type, resource, object } of happenings) {
    if (type === 'MODIFIED') continue;
    const key = `${keyOf(resource, object.metadata.name)} ${type === 'ADDED' ? 'created' : 'deleted'}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

const stable: Check = ({ complaints, restless }) => [
  ...complaints.map((complaint) => `not within the time: ${complaint}`),
  ...(restless.length === 0 ? [] : [`it writes on and on: ${restless.slice(-5).join(', ')}`]),
];

const sameEnd: Check = (run, reference) => {
  if (reference === undefined || run.complaints.length > 0) return [];
  const unmasked = Object.entries(run.state).filter(([path]) => !reference.masked.includes(path));
  return differences(Object.fromEntries(unmasked), reference.state);
};

const sameCounts: Check = (run, reference) => {
  if (reference === undefined || run.complaints.length > 0) return [];
  const found = countsOf(run);
  return [...new Set([...Object.keys(found), ...Object.keys(reference.counts)])]
    .filter((key) => !reference.uncounted.includes(key) && found[key] !== reference.counts[key])
    .map((key) => `${key} ${found[key] ?? 0} times instead of ${reference.counts[key] ?? 0}`);
};

const safeWrites: Check = ({ writes, deletionPolicy }) =>
  writes.flatMap((write) => {
    const { resource } = targetOf(write.path);
    const body = write.body === undefined ? {} : (JSON.parse(write.body) as Record<string, unknown>);
    const found: string[] = [];
    if (write.method === 'DELETE') {
      const { uid } = (body.preconditions ?? {}) as { readonly uid?: string };
      if (uid === undefined || uid === '') found.push('a delete that names no UID');
      const holdsData = resource === 'persistentvolumeclaims' || resource === 'secrets';
      if (holdsData && deletionPolicy !== 'Delete') found.push(`data deleted under the policy ${deletionPolicy}`);
    }
    const { resourceVersion, generateName } = (body.metadata ?? {}) as Record<string, unknown>;
    if (write.method === 'PUT' && !resourceVersion) found.push('a replacement of an object as it never was');
    if (generateName !== undefined) found.push('an object without a name of its own');
    return found.map((what) => `${what}: ${wordsOf(write)}`);
  });

/** Longer than it takes the operator to hear of a pod that is not ready. */
const noticeMs = 3_000;

/** The operator deletes no pod while another of the same set has not been ready for a while. */
const oneAtATime: Check = ({ writes, happenings }) =>
  changes(writes)
    .filter(({ method, path }) => method === 'DELETE' && targetOf(path).resource === 'pods')
    .flatMap((write) => {
      const own = targetOf(write.path).name ?? '';
      const set = own.replace(/-\d+$/, '');
      const unready = new Map<string, number>();
      for (const { at, type, resource, object } of happenings) {
        const { name } = object.metadata;
        if (at > write.sentAt || resource !== 'pods' || name === own || name.replace(/-\d+$/, '') !== set) continue;
        const { conditions = [] } = (object.status ?? {}) as { conditions?: { type: string; status: string }[] };
        const isReady = conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
        if (isReady || type === 'DELETED') unready.delete(name);
        else if (!unready.has(name)) unready.set(name, at);
      }
      return [...unready]
        .filter(([, since]) => write.sentAt - since > noticeMs)
        .map(([name]) => `${own} was deleted while ${name} was not ready`);
    });

const keptData: Check = ({ ledger }) =>
  ledger === undefined || ledger.lost.length === 0
    ? []
    : [
        `${ledger.lost.length} of ${ledger.acknowledged} acknowledged writes lost: ${ledger.lost.slice(0, 5).join(', ')}`,
      ];

const onePrimary: Check = ({ guard }) =>
  guard === undefined
    ? []
    : [
        ...guard.violations,
        ...(guard.mostLabelled > 1 ? [`${guard.mostLabelled} pods bore the primary's label at once`] : []),
      ];

const calm: Check = ({ lives, texts }) => [
  ...lives.flatMap(({ id, end, error }) => (end === 'failed' ? [`process ${id} ended by itself: ${error}`] : [])),
  ...((texts['the log'] ?? '').includes('a rejection was not handled') ? ['a rejection was not handled'] : []),
];

const honest: Check = ({ cluster, primary, complaints, happenings }) => {
  if (cluster === undefined || complaints.length > 0) return [];
  const { members = [], readyReplicas, primary: claimed } = statusOf(cluster);
  const pods = new Map<string, string | undefined>();
  for (const { type, resource, object } of happenings) {
    if (resource !== 'pods') continue;
    if (type === 'DELETED') pods.delete(object.metadata.name);
    else pods.set(object.metadata.name, (object.status as { podIP?: string } | undefined)?.podIP);
  }
  const data = members.filter(({ role }) => role !== 'sentinel');
  return [
    ...(claimed === primary ? [] : [`the status calls ${claimed} the primary, and it is ${primary}`]),
    ...(data.filter(({ ready }) => ready).length === readyReplicas ? [] : [`${readyReplicas} ready replicas claimed`]),
    ...members
      .filter(({ name, address }) => pods.has(name) && pods.get(name) !== address)
      .map(({ name, address }) => `the status knows ${name} as ${address}, and it is ${pods.get(name)}`),
  ];
};

/** Besides half as many again: what one more process, or one more failover, may add. */
const allowance = 8;

const polite: Check = (run, reference) => {
  if (reference === undefined) return [];
  const made = changes(run.writes).length;
  const limit = Math.ceil(reference.writes * 1.5) + allowance * run.plan.faults.length;
  return made <= limit ? [] : [`${made} writes, where ${reference.writes} do without faults`];
};

/** A leader's right to write ends that long after its last successful renewal. */
const renewDeadlineMs = 10_000;

const oneWriter: Check = ({ writes, deposed }) => {
  const found: string[] = [];
  let newest = 0;
  for (const write of changes(writes)) {
    if (write.life < newest) found.push(`process ${write.life} wrote after process ${newest}: ${wordsOf(write)}`);
    newest = Math.max(newest, write.life);
    if (deposed !== undefined && write.life === deposed.life && write.sentAt > deposed.at + renewDeadlineMs) {
      found.push(`process ${write.life} wrote without the lease: ${wordsOf(write)}`);
    }
  }
  return found;
};

const secretive: Check = ({ secrets, texts }) =>
  Object.entries(texts).flatMap(([place, text]) =>
    secrets.some((secret) => text.includes(secret)) ? [`a password in ${place}`] : [],
  );

const permitted: Check = ({ forbidden }) => forbidden.map((request) => `not permitted: ${request}`);

const foreseen: Check = ({ foresight, writes }) => {
  const isSilent = foresight.length === 0 && changes(writes).some((request) => !isApart({ request }));
  return [...unforeseenIn(foresight).slice(0, 5), ...(isSilent ? ['no write was held against a plan'] : [])];
};

export const realOracles: Readonly<Record<string, Check>> = {
  O1: stable,
  O2: sameEnd,
  O3: sameCounts,
  O4: (run, reference) => [...safeWrites(run, reference), ...oneAtATime(run, reference)],
  O5: keptData,
  O6: onePrimary,
  O7: calm,
  O8: honest,
  O9: polite,
  O10: oneWriter,
  O11: secretive,
  O12: permitted,
  O13: foreseen,
};

/** Everything that does not hold, apart from what the plan says may differ. */
export function judge(run: Evidence, reference: Reference | undefined): readonly Violation[] {
  const excused = (run.plan.mayDiffer ?? []).map(({ oracle }) => oracle);
  return Object.entries(realOracles)
    .filter(([oracle]) => !excused.includes(oracle))
    .flatMap(([oracle, check]) => check(run, reference).map((message) => ({ oracle, message })));
}
