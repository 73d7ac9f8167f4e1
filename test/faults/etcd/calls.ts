/** The calls of etcd's API that the operator and clients make, each with its answer as the JSON gateway writes it. */
import { createHash } from 'node:crypto';
import type { VirtualTime } from '../world/time.ts';
import { hashAt } from './corruption.ts';
import { isRefusal, type MemberRow, type Refusal, refusal } from './entry.ts';
import { memberIdOf } from './identity.ts';
import type { Member } from './member.ts';
import { mayAdd, mayPromote, mayRemove } from './membership-rules.ts';
import { minorIn } from './versions.ts';

type Fields = Readonly<Record<string, unknown>>;
export type Reply = Fields | Refusal;

export interface Question {
  readonly member: Member;
  readonly body: Fields;
  /** Of the user who asks; undefined where nobody has said who. */
  readonly token: string | undefined;
  readonly time: VirtualTime;
}

type Call = (question: Question) => Promise<Reply>;

const text = (value: unknown): string => String(value ?? '');
const decoded = (value: unknown): string => Buffer.from(text(value), 'base64').toString('latin1');
const encoded = (value: string): string => Buffer.from(value, 'latin1').toString('base64');

function header({ disk, state, id }: Member): Fields {
  return {
    cluster_id: disk.clusterId,
    member_id: id,
    revision: String(state.revision),
    raft_term: String(disk.term),
  };
}

/** Zero values are left out. */
function rowOf({ id, name, peerUrls, clientUrls, isLearner }: MemberRow): Fields {
  return {
    ID: id,
    ...(name === '' ? {} : { name }),
    peerURLs: peerUrls,
    ...(clientUrls.length === 0 ? {} : { clientURLs: clientUrls }),
    ...(isLearner ? { isLearner } : {}),
  };
}

/** etcd lists by number. */
function rowsOf({ state }: Member): Fields[] {
  const byNumber = (a: MemberRow, b: MemberRow): number => (BigInt(a.id) < BigInt(b.id) ? -1 : 1);
  return [...state.members.values()].sort(byNumber).map(rowOf);
}

const withMembers = (member: Member): Reply => ({ header: { ...header(member) }, members: rowsOf(member) });

const status: Call = async ({ member }) => {
  const { state, disk, leaderId } = member;
  const alarms = state.alarms.map(({ alarm, id }) => `${id === '0' ? '' : `memberID:${id} `}alarm:${alarm} `);
  const errors = [...(leaderId === undefined ? ['etcdserver: no leader'] : []), ...alarms];
  return {
    header: header(member),
    version: member.version,
    dbSize: String(disk.fileBytes),
    ...(leaderId === undefined ? {} : { leader: leaderId }),
    raftIndex: String(disk.log.length),
    raftTerm: String(disk.term),
    raftAppliedIndex: String(state.applied),
    ...(errors.length === 0 ? {} : { errors }),
    dbSizeInUse: String(state.bytesInUse),
    ...(member.isOld ? {} : versionsTold(member)),
    ...(member.own?.isLearner === true ? { isLearner: true } : {}),
  };
};

function versionsTold({ disk, state }: Member): Fields {
  const { downgradeTarget } = state;
  return {
    ...(disk.storageMinor === undefined ? {} : { storageVersion: `3.${disk.storageMinor}.0` }),
    downgradeInfo: downgradeTarget === undefined ? {} : { enabled: true, targetVersion: `3.${downgradeTarget}.0` },
  };
}

/** How long 3.5 takes to say that it does not know what became of a downgrade. */
const silentMs = 7_000;

const downgrade: Call = async ({ member, body, time }) => {
  const failure = await member.current();
  if (failure !== undefined) return failure;
  const { clusterMinor, downgradeTarget } = member.state;
  if (body.action === 'CANCEL') {
    if (downgradeTarget === undefined && member.isOld) return refusal('no inflight downgrade job', 9);
  } else {
    if (clusterMinor === undefined) return refusal('cluster version not found during downgrade', 14);
    if (minorIn(text(body.version)) !== clusterMinor - 1) return refusal('invalid downgrade target version', 3);
    if (downgradeTarget !== undefined) return refusal('cluster has a downgrade job in progress', 9);
  }
  const done = { header: header(member), version: `3.${clusterMinor}.0` };
  if (body.action === 'VALIDATE') return done;
  const target = body.action === 'ENABLE' ? minorIn(text(body.version)) : undefined;
  const outcome = await member.propose({ type: 'downgrade', target });
  if (outcome !== undefined || !member.isOld) return outcome ?? done;
  // It waits for something that does not come.
  await new Promise<void>((resolve) => time.after(silentMs, resolve));
  return refusal('request timed out', 14);
};

const list: Call = async ({ member, body }) => {
  const failure = body.linearizable === false ? undefined : await member.current();
  return failure ?? withMembers(member);
};

const add: Call = async ({ member, body, time }) => {
  const peerUrls = Array.isArray(body.peerURLs) ? body.peerURLs.map(String) : [];
  const isLearner = body.isLearner === true;
  if (peerUrls.length === 0 || peerUrls.some((url) => !/^https?:\/\/[^/]+:\d+$/.test(url))) {
    return refusal('given member URLs are invalid', 3);
  }
  const objection = mayAdd(member, isLearner);
  if (objection !== undefined) return objection;
  const row = {
    id: memberIdOf(peerUrls, String(Math.floor(time.now() / 1000))),
    peerUrls,
    isLearner,
    name: '',
    clientUrls: [],
  };
  const outcome = await member.propose({ type: 'addMember', member: row });
  return outcome ?? { header: header(member), member: rowOf(row), members: rowsOf(member) };
};

const promote: Call = async ({ member, body }) => {
  const failure = await member.current();
  if (failure !== undefined) return failure;
  const id = text(body.ID);
  const objection = mayPromote(member.leader ?? member, id);
  if (objection !== undefined) return objection;
  return (await (member.leader ?? member).propose({ type: 'promote', id })) ?? withMembers(member);
};

const remove: Call = async ({ member, body }) => {
  const id = text(body.ID);
  return mayRemove(member, id) ?? (await member.propose({ type: 'removeMember', id })) ?? withMembers(member);
};

const alarmRow = ({ id, alarm: type }: { readonly id: string; readonly alarm: string }): Fields => ({
  ...(id === '0' ? {} : { memberID: id }),
  alarm: type,
});

const isCorrupt = ({ state }: Member): boolean => state.alarms.some(({ alarm: type }) => type === 'CORRUPT');

const alarm: Call = async ({ member, body }) => {
  const wanted = {
    id: text(body.memberID ?? '0'),
    alarm: text(body.alarm) === 'CORRUPT' ? 'CORRUPT' : 'NOSPACE',
  } as const;
  const action = text(body.action);
  if (action === 'ACTIVATE' || action === 'DEACTIVATE') {
    const outcome = await member.propose({ type: 'alarm', ...wanted, isOn: action === 'ACTIVATE' });
    return outcome ?? { header: header(member), alarms: [alarmRow(wanted)] };
  }
  const failure = await member.current();
  if (failure !== undefined) return failure;
  const raised = member.state.alarms.map(alarmRow);
  return { header: header(member), ...(raised.length === 0 ? {} : { alarms: raised }) };
};

const moveLeader: Call = async ({ member, body, time }) => {
  if (member.role !== 'leader') return refusal('not leader', 9);
  const row = member.state.members.get(text(body.targetID));
  if (row === undefined || row.isLearner) return refusal('bad leader transferee', 9);
  const until = time.monotonic() + 2_000;
  for (;;) {
    const heir = member.peer(row);
    if (row.id === member.id || (heir !== undefined && member.handOver(heir))) return { header: header(member) };
    if (time.monotonic() > until) return refusal('request timed out, leader transfer took too long', 14);
    await new Promise<void>((resolve) => time.after(50, resolve));
  }
};

const put: Call = async ({ member, body }) => {
  const [key, value] = [decoded(body.key), decoded(body.value)];
  const { state } = member;
  if (isCorrupt(member)) return refusal('corrupt cluster', 15);
  if (state.alarms.length > 0) return refusal('mvcc: database space exceeded', 8);
  if (member.disk.fileBytes + key.length + value.length > member.quotaBytes) {
    await member.propose({ type: 'alarm', id: member.id, alarm: 'NOSPACE', isOn: true });
    return refusal('mvcc: database space exceeded', 8);
  }
  return (await member.propose({ type: 'put', key, value })) ?? { header: header(member) };
};

const range: Call = async ({ member, body }) => {
  const failure = body.serializable === true ? undefined : await member.current();
  if (failure !== undefined) return failure;
  const { pairs, compacted, revision } = member.state;
  const asked = Number(body.revision ?? 0);
  if (asked > revision) return refusal('mvcc: required revision is a future revision', 11);
  if (asked > 0 && asked < compacted) return refusal('mvcc: required revision has been compacted', 11);
  const [key, end] = [decoded(body.key), body.range_end === undefined ? undefined : decoded(body.range_end)];
  const keys = end === undefined ? [key] : [...pairs.keys()].filter((name) => name >= key && name < end).sort();
  const found = keys.flatMap((name) => {
    const pair = pairs.get(name);
    if (pair === undefined) return [];
    return {
      key: encoded(name),
      create_revision: String(pair.created),
      mod_revision: String(pair.changed),
      version: String(pair.version),
      ...(pair.value === '' ? {} : { value: encoded(pair.value) }),
    };
  });
  if (found.length === 0) return { header: header(member) };
  const limited = body.limit === undefined ? found : found.slice(0, Number(body.limit));
  return {
    header: header(member),
    kvs: limited,
    ...(limited.length < found.length ? { more: true } : {}),
    count: String(found.length),
  };
};

const compact: Call = async ({ member, body }) =>
  (isCorrupt(member) ? refusal('corrupt cluster', 15) : undefined) ??
  (await member.propose({ type: 'compact', revision: Number(body.revision) })) ?? { header: header(member) };

const defragment: Call = async ({ member }) => {
  member.disk.fileBytes = member.state.bytesInUse;
  return { header: header(member) };
};

/** Equal where all keys are. */
export function hashOf({ state }: Member): string {
  const hash = createHash('sha1');
  for (const key of [...state.pairs.keys()].sort()) hash.update(JSON.stringify([key, state.pairs.get(key)]));
  return String(hash.digest().readUInt32BE());
}

const hashKv: Call = async ({ member, body }) => {
  const hash = hashAt(member, Number(body.revision ?? 0));
  if (isRefusal(hash)) return hash;
  const { compacted } = member.state;
  return {
    header: header(member),
    hash,
    compact_revision: String(compacted === 0 ? -1 : compacted),
    ...(member.isOld ? {} : { hash_revision: String(Number(body.revision ?? 0) || member.state.revision) }),
  };
};

const authStatus: Call = async ({ member }) => {
  const failure = await member.current();
  if (failure !== undefined) return failure;
  return { header: header(member), ...(member.state.isAuthenticated ? { enabled: true } : {}) };
};

const setUser =
  (mustBeNew: boolean): Call =>
  async ({ member, body }) =>
    (await member.propose({ type: 'setUser', name: text(body.name), password: text(body.password), mustBeNew })) ?? {
      header: header(member),
    };

const deleteUser: Call = async ({ member, body }) =>
  (await member.propose({ type: 'deleteUser', name: text(body.name) })) ?? { header: header(member) };

const grant: Call = async ({ member, body }) =>
  (await member.propose({ type: 'grant', name: text(body.user), role: text(body.role) })) ?? {
    header: header(member),
  };

const setAuth =
  (isOn: boolean): Call =>
  async ({ member }) =>
    (await member.propose({ type: 'setAuth', isOn })) ?? { header: header(member) };

const authenticate: Call = async ({ member, body, time }) => {
  if (!member.state.isAuthenticated) return refusal('authentication is not enabled', 9);
  const failure = await member.current();
  if (failure !== undefined) return failure;
  const name = text(body.name);
  if (member.state.users.get(name)?.password !== text(body.password)) {
    return refusal('authentication failed, invalid user ID or password', 3);
  }
  const token = `${name}.${member.ip}.${time.monotonic()}`;
  return (await member.propose({ type: 'token', name, token })) ?? { header: header(member), token };
};

const calls: Readonly<Record<string, Call>> = {
  'maintenance/status': status,
  'maintenance/alarm': alarm,
  'maintenance/downgrade': downgrade,
  'maintenance/transfer-leadership': moveLeader,
  'maintenance/defragment': defragment,
  'maintenance/hashkv': hashKv,
  'cluster/member/list': list,
  'cluster/member/add': add,
  'cluster/member/promote': promote,
  'cluster/member/remove': remove,
  'kv/put': put,
  'kv/range': range,
  'kv/compaction': compact,
  'auth/status': authStatus,
  'auth/authenticate': authenticate,
  'auth/user/add': setUser(true),
  'auth/user/changepw': setUser(false),
  'auth/user/delete': deleteUser,
  'auth/user/grant': grant,
  'auth/enable': setAuth(true),
  'auth/disable': setAuth(false),
};

/** What needs no name: who asks for one has none yet, and what a process says of itself is no secret. */
const open: ReadonlySet<string> = new Set(['auth/authenticate', 'maintenance/status']);

function isForLearners(path: string, { serializable }: Fields): boolean {
  return path === 'maintenance/status' || (path === 'kv/range' && serializable === true);
}

/** Undefined where there is no such call. */
export async function answerTo(path: string, question: Question): Promise<Reply | undefined> {
  const { member, body, token } = question;
  const call = calls[path];
  if (call === undefined) return undefined;
  if (member.own?.isLearner === true && !isForLearners(path, body)) {
    return refusal('rpc not supported for learner', member.isOld ? 14 : 9);
  }
  if (member.state.isAuthenticated && !open.has(path)) {
    if (token === undefined) return refusal('user name is empty', 3);
    if (!member.tokens.has(token)) return refusal('invalid auth token', 16);
  }
  return call(question);
}
