/** An etcd in memory that says of itself exactly what a situation tells of it, through its gateway. */
import type { EngineContext, HttpRequest, HttpResponse } from '../../src/engine/engine-context.ts';
import type { EtcdObserved } from '../../src/engines/etcd/observe/observed.ts';
import { answering } from '../../src/engines/etcd/observe/observed.ts';
import { sleep } from '../../src/system/clock.ts';
import { blankAccounts, blankClaims } from './blank-claims.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface ScriptedEtcd {
  readonly io: EngineContext;
  readonly clock: VirtualClock;
  /** `ADDRESS PATH BODY` of every call. */
  readonly asked: string[];
  abort(): void;
}

/** In place of what the situation says; `hang` never answers. */
export type Script = (request: HttpRequest) => HttpResponse | Error | 'hang' | undefined;

export function scriptedEtcd(
  observed: EtcdObserved,
  script: Script = () => undefined,
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>> = { 'db-root': { password: 'pw\n' } },
): ScriptedEtcd {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const asked: string[] = [];

  const io: EngineContext = {
    signal: stopping.signal,
    now: () => observed.at,
    sleep: (ms, signal) => sleep(clock, ms, AbortSignal.any([stopping.signal, ...(signal ? [signal] : [])])),
    secret: async (name) => secrets[name],
    secretNow: () => Promise.resolve(undefined),
    secretRefused: () => undefined,
    secretOutdated: () => undefined,
    claim: (name) => blankClaims('apps', name, stopping.signal),
    serviceAccount: (name) => blankAccounts('apps', name, stopping.signal),
    dial: () => Promise.reject(new Error('nobody here speaks anything but HTTP')),
    async exchange(request) {
      asked.push(`${request.host} ${request.path.replace('/v3/', '')} ${request.body ?? ''}`);
      const scripted = script(request);
      if (scripted instanceof Error) throw scripted;
      if (scripted === 'hang') {
        return new Promise((_, reject) => {
          const signal = AbortSignal.any([request.signal, stopping.signal]);
          if (signal.aborted) return reject(signal.reason);
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      }
      return scripted ?? { status: 200, body: JSON.stringify(answerOf(observed, request)) };
    },
  };
  return { io, clock, asked, abort: () => stopping.abort(new Error('stopping')) };
}

/** As the gateway writes it: numbers as text, zeros left out. */
function answerOf({ members, agreed }: EtcdObserved, { host, path }: HttpRequest): object {
  const member = answering(members).find(({ address }) => address === host);
  if (member === undefined) throw new Error(`connect ECONNREFUSED ${host}`);
  const header = { cluster_id: member.clusterId, member_id: member.memberId, revision: member.revision };
  switch (path.replace('/v3/', '')) {
    case 'maintenance/status':
      return {
        header,
        version: member.version,
        dbSize: String(member.dbSize),
        dbSizeInUse: String(member.dbInUse),
        ...(member.storageVersion === undefined ? {} : { storageVersion: member.storageVersion }),
        ...(member.downgradeTarget === undefined
          ? {}
          : { downgradeInfo: { enabled: true, targetVersion: member.downgradeTarget } }),
        raftAppliedIndex: String(member.applied),
        ...(member.leaderId === undefined ? {} : { leader: member.leaderId }),
        ...(member.isLearner ? { isLearner: true } : {}),
      };
    case 'cluster/member/list':
      return {
        header,
        members: agreed?.members.map(({ id, name, peerUrls, isLearner, hasStarted }) => ({
          ID: id,
          ...(name === '' ? {} : { name }),
          peerURLs: peerUrls,
          ...(hasStarted ? { clientURLs: [`http://${name}:2379`] } : {}),
          ...(isLearner ? { isLearner } : {}),
        })),
      };
    case 'maintenance/alarm':
      return { header, alarms: agreed?.alarms.map(({ memberId, type }) => ({ memberID: memberId, alarm: type })) };
    case 'auth/status':
      return { header, ...(agreed?.isAuthenticated === true ? { enabled: true } : {}) };
    default:
      return { header };
  }
}
