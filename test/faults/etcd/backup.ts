/**
 * What a backup of a simulated etcd holds, and how it gets there: the pairs at one moment, in a snapshot that the agent
 * takes for one, and what `etcdutl` makes a data directory of.
 *
 * Revisions do not go on where the snapshot ended, nor a thousand million higher: they are counted anew.
 */
import { createHash } from 'node:crypto';
import { Failure } from '../../../src/engine/driver/failure.ts';
import type { EtcdDestination, EtcdSource } from '../../../src/engines/etcd/backup/schemas.ts';
import { exchangeOver } from '../../../src/runtime/http-exchange.ts';
import type { AgentContext, Contents, Database } from '../backup/database.ts';
import type { ProgramContext, RunningProgram } from '../world/workload.ts';
import { blankDisk, type Disk, diskOn } from './disk.ts';
import { clusterIdOf, memberIdOf } from './identity.ts';
import type { Member } from './member.ts';
import type { Processes } from './processes.ts';

const sectorBytes = 512;
const trailerBytes = 32;
const snapshotMs = 300;
const restoreMs = 400;
const snapshotFile = 'snapshot.db';

function write(contents: Contents): Buffer {
  const text = Buffer.from(JSON.stringify([...contents]));
  const pages = Buffer.alloc(Math.max(1, Math.ceil(text.length / sectorBytes)) * sectorBytes, ' ');
  text.copy(pages);
  return Buffer.concat([pages, createHash('sha256').update(pages).digest()]);
}

function read(data: Buffer): Contents {
  return new Map(JSON.parse(data.subarray(0, -trailerBytes).toString()) as [string, string][]);
}

type Answer = Readonly<Record<string, unknown>>;

interface Found {
  readonly host: string;
  readonly member: Member;
  readonly isLeader: boolean;
  readonly clusterId: unknown;
}

export function etcdDatabase(processes: Processes): Database {
  async function call(host: string, port: number, path: string, body: object, context: AgentContext): Promise<Answer> {
    const { network, ip, inTime } = context;
    const giveUp = new AbortController();
    const dial = (to: string, at: number, signal: AbortSignal) => network.dial(ip, to, at, signal);
    try {
      const request = { host, port, method: 'POST', path: `/v3/${path}`, body: JSON.stringify(body) } as const;
      const answer = await inTime(exchangeOver(dial, { ...request, signal: giveUp.signal }), host);
      if (answer.status !== 200) throw new Error(answer.body);
      return JSON.parse(answer.body) as Answer;
    } catch (error) {
      giveUp.abort(error);
      throw error instanceof Failure
        ? error
        : new Failure('SourceUnreachable', `${host} cannot be asked`, { cause: error });
    }
  }

  async function ask(host: string, port: number, context: AgentContext): Promise<Found | 'corrupt'> {
    const { leader, isLearner, header, errors } = await call(host, port, 'maintenance/status', {}, context);
    if (String(errors ?? '').includes('CORRUPT')) return 'corrupt';
    const { member_id: id, cluster_id: clusterId } = (header ?? {}) as Answer;
    const member = [...processes.all].find((each) => each.id === id);
    if (member === undefined || isLearner === true) throw new Failure('SourceUnreachable', `${host} has no vote`);
    return { host, member, isLeader: leader === id, clusterId };
  }

  /** As the agent does. */
  async function requireOwn(first: Found | undefined, source: EtcdSource, context: AgentContext): Promise<void> {
    const { members, peerDomain } = source;
    if (first === undefined || peerDomain === undefined) return;
    const port = members.find(({ host }) => host === first.host)?.port ?? 0;
    const listed = JSON.stringify(await call(first.host, port, 'cluster/member/list', {}, context));
    if (!listed.includes(`.${peerDomain}:`)) throw new Failure('SourceBroken', `${first.host} is of another cluster`);
  }

  return {
    engine: 'etcd',
    read,
    write,
    hasData: (volume) => diskOn(volume) !== undefined,
    firstClaim: (cluster) => `data-${cluster}-0-0`,
    async dump(source, context) {
      const { members } = source as EtcdSource;
      const asked = await Promise.allSettled(members.map(({ host, port }) => ask(host, port, context)));
      const answered = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      const found = answered.filter((each) => each !== 'corrupt');
      if (found.length < answered.length) throw new Failure('SourceBroken', 'a CORRUPT alarm stands');
      if (found.some(({ clusterId }) => clusterId !== found[0]?.clusterId)) {
        throw new Failure('SourceBroken', 'they are of different clusters');
      }
      await requireOwn(found[0], source as EtcdSource, context);
      const chosen = found.find(({ isLeader }) => !isLeader) ?? found[0];
      if (chosen === undefined) throw new Failure('SourceUnreachable', 'no member answers');
      const { host, member, isLeader } = chosen;
      const port = members.find((endpoint) => endpoint.host === host)?.port ?? 0;
      await call(host, port, 'kv/range', { key: 'AA==', count_only: true }, context);
      const revision = String(member.state.revision);
      await context.pause(snapshotMs);
      if (member.hasEnded || member.isFrozen || !context.network.reaches(context.ip, member.ip)) {
        throw new Failure('SourceBroken', `the connection to ${host} broke`);
      }
      const keys = member.state.pairs.size;
      const data = write(new Map([...member.state.pairs].map(([key, { value }]) => [key, value])));
      return {
        engineVersion: member.version,
        topology: { members: found.length, source: host, role: isLeader ? 'leader' : 'follower' },
        content: pieces(data),
        state: () => ({ engine: 'etcd', clusterId: member.disk.clusterId, memberId: member.id, revision, keys }),
        close: () => undefined,
      };
    },
    begun: () => undefined,
    async fill(destination, _, content, context) {
      const { file } = destination as EtcdDestination;
      const volume = context.volume(file.replace(/\/[^/]*$/, ''));
      if (volume === undefined) throw new Failure('BadTask', `${file} cannot be written`);
      await context.pause(snapshotMs);
      volume.set(snapshotFile, content);
      return { isRepeated: false };
    },
  };
}

async function* pieces(data: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  yield data;
}

/** `etcdutl snapshot restore`: a cluster of one with the snapshot's keys, in a directory that must not be there. */
export function restoring({ command, time, volume, exit }: ProgramContext): RunningProgram {
  const option = (name: string): string =>
    command.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
  const [, root = '', directory = ''] = /^(.*)\/([^/]+)$/.exec(option('data-dir')) ?? [];
  let hasEnded = false;
  const end = (code: number, lastWords?: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    exit(code, lastWords);
  };
  time.after(restoreMs, () => {
    const source = volume('/snapshot')?.get(snapshotFile);
    const target = volume(root);
    if (!(source instanceof Buffer) || target === undefined) end(1, 'the snapshot or the volume is not there');
    else if (target.has(directory)) end(1, `data-dir "${directory}" not empty or could not be read`);
    else {
      if (!hasEnded) {
        target.set(
          directory,
          restored(read(source), option('initial-advertise-peer-urls'), option('initial-cluster-token')),
        );
      }
      end(0);
    }
  });
  return {
    exec: () => Promise.resolve(false),
    terminate: () => end(143),
    kill() {
      hasEnded = true;
    },
  };
}

/** Whoever joins it gets the log, so the keys are in there. */
function restored(contents: Contents, url: string, token: string): Disk {
  const id = memberIdOf([url], token);
  const name = /^https?:\/\/([^.]+)-0\./.exec(url)?.[1] ?? '';
  const disk = blankDisk(clusterIdOf([id]), id);
  const row = { id, peerUrls: [url], isLearner: false, name, clientUrls: [] };
  disk.log.push({ term: 1, change: { type: 'addMember', member: row } });
  for (const [key, value] of contents) disk.log.push({ term: 1, change: { type: 'put', key, value } });
  disk.term = 1;
  disk.commit = disk.log.length;
  return disk;
}
