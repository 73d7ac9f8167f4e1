/** Patroni's REST API on a stream: one request on a connection, as the operator and the kubelet ask. */
import type { Duplex } from 'node:stream';
import { patched } from './parameters.ts';
import type { Patroni } from './patroni.ts';
import type { Json } from './store.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Json;
}

/** An object is answered as JSON, a text as it is. */
export interface Reply {
  readonly status: number;
  readonly body: Json | string;
}

/** `answer` never resolves where the process says nothing any more. */
export function serveRest(stream: Duplex, answer: (asked: Asked) => Promise<Reply>): void {
  let received = '';
  stream.on('error', () => stream.destroy());
  stream.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    const asked = parsed(received);
    if (asked === undefined) return;
    received = '';
    void answer(asked).then((reply) => {
      if (stream.writable) stream.end(written(reply));
    });
  });
}

/** Undefined until the whole request is there. */
function parsed(text: string): Asked | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const body = text.slice(end + 4);
  if (body.length < length) return undefined;
  const [, method = '', path = ''] = /^([A-Z]+) (\S+)/.exec(head) ?? [];
  return { method, path, body: body === '' ? {} : (JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Json) };
}

function written({ status, body }: Reply): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  return `HTTP/1.0 ${status} -\r\nContent-Type: ${type}\r\n\r\n${text}`;
}

export async function answerTo(patroni: Patroni, { method, path, body }: Asked): Promise<Reply> {
  switch (`${method} ${path}`) {
    case 'GET /patroni':
      return { status: patroni.state === 'running' ? 200 : 503, body: statusOf(patroni) };
    case 'GET /config': {
      const { config } = patroni.host.store.view();
      return config === undefined ? { status: 502, body: '' } : { status: 200, body: config };
    }
    case 'GET /cluster':
      return { status: 200, body: clusterOf(patroni) };
    case 'GET /history':
      return { status: 200, body: JSON.stringify(patroni.host.store.view().history) };
    case 'PATCH /config':
      return await configure(patroni, body);
    case 'POST /switchover':
      return await switchOver(patroni, String(body.leader ?? ''), String(body.candidate ?? ''));
    case 'POST /failover':
      return await failOver(patroni, String(body.candidate ?? ''));
    case 'POST /reload':
      patroni.readAnew();
      return { status: 202, body: 'reload scheduled' };
    case 'POST /reinitialize': {
      const refused = patroni.reinitialize();
      return refused === undefined ? { status: 200, body: 'reinitialize started' } : { status: 503, body: refused };
    }
    case 'POST /restart':
      return await restart(patroni, body);
    default:
      return { status: 404, body: '' };
  }
}

/** What `GET /cluster` answers, of what members say on their pods. */
function clusterOf({ host }: Patroni): Json {
  const { members, holder, sync } = host.store.view();
  const roleOf = (name: string): string =>
    name === holder ? 'leader' : sync.voters.includes(name) ? 'quorum_standby' : 'replica';
  const rows = [...members].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    members: rows.map(({ name, ip, state, timeline, pending }) => ({
      ...{ name, role: roleOf(name), api_url: `https://${ip}:8008/patroni`, host: ip, port: 5432, timeline },
      state: name !== holder && host.processes.at(ip)?.server?.isStreaming === true ? 'streaming' : state,
      ...(pending ? { pending_restart: true } : {}),
    })),
    scope: '',
  };
}

/** What `GET /patroni` answers. */
export function statusOf(patroni: Patroni): Json {
  const { server, state, view, data, host, name } = patroni;
  const common = {
    ...(Object.keys(patroni.pending).length === 0
      ? {}
      : { pending_restart: true, pending_restart_reason: patroni.pending }),
    // Of a database that is not finished it says nothing.
    ...(data === undefined || patroni.busy === 'bootstrap' ? {} : { database_system_identifier: data.systemId }),
    ...(patroni.isUnlocked ? { cluster_unlocked: true } : {}),
    ...(patroni.isPaused ? { pause: true } : {}),
    ...(patroni.isFailsafe ? { failsafe_mode_is_active: true } : {}),
    ...(view === undefined ? {} : { dcs_last_seen: Math.floor(host.time.now() / 1000) }),
    patroni: { version: host.serverVersion >= 180_000 ? '4.1.5' : '4.0.7', scope: '', name },
  };
  if (server === undefined || server.hasEnded || !['running', 'restarting', 'starting'].includes(state))
    return { state, role: server?.role ?? 'uninitialized', ...common };
  const replication = server.followers.map((follower) => ({
    usename: 'replicator',
    application_name: follower,
    client_addr: server.addressOf(follower),
    state: 'streaming',
    sync_state: server.synchronous.names.has(follower) ? 'quorum' : 'async',
    sync_priority: server.synchronous.names.has(follower) ? 1 : 0,
  }));
  const running = {
    state,
    postmaster_start_time: new Date(host.time.now() - (server.now - server.startedAt)).toISOString(),
    role: server.role,
    server_version: host.serverVersion,
    timeline: server.timeline,
    ...(replication.length === 0 ? {} : { replication }),
  };
  if (server.role === 'primary') return { ...running, xlog: { location: server.lsn }, ...common };
  return {
    ...running,
    xlog: { received_location: server.lsn, replayed_location: server.lsn, replayed_timestamp: null, paused: false },
    ...(server.isStreaming ? { replication_state: 'streaming' } : {}),
    ...(view?.sync.voters.includes(name) === true ? { quorum_standby: true } : {}),
    ...common,
  };
}

async function configure({ host }: Patroni, patch: Json): Promise<Reply> {
  const { config, versions } = host.store.view();
  if (config === undefined) return { status: 503, body: '' };
  const next = patched(config, patch);
  const isWritten =
    JSON.stringify(next) === JSON.stringify(config) ||
    (await host.store.write('config', { config: JSON.stringify(next) }, versions.config));
  return isWritten ? { status: 200, body: next } : { status: 409, body: '' };
}

type Way = 'switchover' | 'failover';

async function switchOver(patroni: Patroni, leader: string, candidate: string): Promise<Reply> {
  if (leader === '') return { status: 400, body: 'Switchover could be performed only from a specific leader' };
  return await handOver(patroni, 'switchover', leader, candidate);
}

/** Also without a leader, and to a member that may not have every commit. */
async function failOver(patroni: Patroni, candidate: string): Promise<Reply> {
  return candidate === ''
    ? { status: 400, body: 'Failover could be performed only to a specific candidate' }
    : await handOver(patroni, 'failover', '', candidate);
}

/** A lock that has ended names nobody. */
function leaderNow(patroni: Patroni): string | undefined {
  const { holder } = patroni.host.store.view();
  return holder === patroni.view?.holder && patroni.isUnlocked ? undefined : holder;
}

/** Why nobody could be handed over to; undefined where somebody could. */
function objection(patroni: Patroni, way: Way, leader: string, candidate: string): string | undefined {
  const { members } = patroni.host.store.view();
  if (leader !== '' && leader !== leaderNow(patroni)) return 'leader name does not match';
  const member = members.find(({ name }) => name === candidate);
  if (member === undefined) return 'candidate does not exists';
  const other = patroni.host.processes.at(member.ip);
  const isGood =
    other?.isUp === true && patroni.host.network.reaches(patroni.ip, member.ip) && other.state === 'running';
  return isGood ? undefined : `${way} is not possible: no good candidates have been found`;
}

async function handOver(patroni: Patroni, way: Way, leader: string, candidate: string): Promise<Reply> {
  if (leader === candidate) return { status: 400, body: 'Switchover target and source are the same' };
  const refused = objection(patroni, way, leader, candidate);
  if (refused !== undefined) return { status: 412, body: refused };
  const { store } = patroni.host;
  const before = leaderNow(patroni);
  if (!(await store.write('failover', { leader: leader === '' ? null : leader, member: candidate })))
    return { status: 503, body: 'failed to write failover key into DCS' };
  patroni.wakeUp();
  const words = { switchover: ['switch', 'Switchover'], failover: ['fail', 'Failover'] }[way] as [string, string];
  for (let tries = 0; tries < 20; tries++) {
    await patroni.pause(1_000);
    const now = store.view();
    const holder = leaderNow(patroni);
    if (holder !== undefined && holder !== before) {
      const instead = `${words[0].replace(/^./, (first) => first.toUpperCase())}ed over to "${holder}" instead of "${candidate}"`;
      return { status: 200, body: holder === candidate ? `Successfully ${words[0]}ed over to "${holder}"` : instead };
    }
    if (now.failover === undefined) return { status: 503, body: `${words[1]} failed` };
  }
  return { status: 503, body: `${words[1]} status unknown` };
}

async function restart(patroni: Patroni, { restart_pending }: Json): Promise<Reply> {
  if (restart_pending !== undefined && Object.keys(patroni.pending).length === 0)
    return { status: 503, body: 'restart conditions are not satisfied' };
  if (patroni.busy !== undefined) return { status: 503, body: `${patroni.busy} already in progress` };
  return (await patroni.restart())
    ? { status: 200, body: 'restarted successfully' }
    : { status: 503, body: 'restart failed' };
}
