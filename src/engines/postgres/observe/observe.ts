/** Asks the Patroni of every member at once, each within a second. Reads only. */
import type { Cluster } from '../../../api/cluster.ts';
import type { EngineContext, TlsMaterial } from '../../../engine/engine-context.ts';
import { firstLook } from '../../../engine/first-look.ts';
import type { Children, Pod } from '../../../resources/children.ts';
import { isAnyStuckCreating } from '../../../resources/stuck-creating.ts';
import { patroniTls, SecretUnusable } from '../client/credentials.ts';
import { callPatroni } from '../client/patroni.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { dumpedSource, followedSource } from '../kind/source.ts';
import { dumpJobName, indexInPodName, postgresNames } from '../names.ts';
import { observeApplication } from './application.ts';
import { observeCertificates } from './certificates.ts';
import { observeSource } from './import-seen.ts';
import { observeLogins } from './logins.ts';
import { isApart } from './lost-log.ts';
import { liveMember } from './member.ts';
import { answering, type LiveMember, type LogPosition, type PostgresObserved, type SilentMember } from './observed.ts';
import { observePoolers } from './poolers.ts';
import { lookAgain } from './second-look.ts';
import { observeLog, observeServer } from './server.ts';
import { observeShown } from './shown-certificate.ts';
import { situationOf } from './situation.ts';
import { observeStaging } from './staging.ts';

export async function observePostgres(
  cluster: Cluster<PostgresSpec>,
  children: Children,
  given: EngineContext,
): Promise<PostgresObserved> {
  const io = firstLook(cluster, children, given);
  if (isAnyStuckCreating(children, io.now())) readAgain(cluster, io);
  const [issued, shown] = await Promise.all([observeCertificates(cluster, io), observeShown(cluster, io)]);
  const certificates = { ...issued, ...(shown === undefined ? {} : { shown }) };
  const tls = await patroniTls(cluster, io).catch((error: unknown) => {
    if (error instanceof SecretUnusable) return error;
    throw error;
  });
  if (tls instanceof SecretUnusable) {
    const members = memberPods(cluster, children).map((pod) => silent(pod, tls.message));
    return { members, at: io.now(), ...certificates, credentialsProblem: tls.message };
  }
  const members = await askMembers(cluster, children, tls, io);
  const primary = answering(members).find(({ role }) => role === 'primary');
  const [config, application, logins, poolers, logBegins, source, staging] = await Promise.all([
    configOf(answering(members), tls, io),
    primary === undefined ? undefined : observeApplication(cluster, primary.address, io),
    primary === undefined ? undefined : observeLogins(cluster, primary.address, io),
    observePoolers(cluster, children, io),
    primary === undefined || !answering(members).some(isApart) ? undefined : observeLog(cluster, primary.address, io),
    isSourceWanted(cluster, children, answering(members)) ? observeSource(cluster, io) : undefined,
    primary === undefined || dumpedSource(cluster.spec) === undefined
      ? undefined
      : observeStaging(cluster, primary.address, io),
  ]);
  const at = io.now();
  const log = logBegins === undefined ? {} : { logBegins };
  const first = situationOf(cluster, children, { members, at, ...log });
  const later = await lookAgain(first, (member) => lookAt(member, tls, io), io);
  return {
    members: members.map((member) => withLater(member, later)),
    at,
    ...certificates,
    ...(config === undefined ? {} : { config }),
    ...(application === undefined ? {} : { application }),
    ...(logins === undefined ? {} : { logins }),
    ...(poolers.length === 0 ? {} : { poolers }),
    ...log,
    ...(source === undefined ? {} : { source }),
    ...(staging === undefined ? {} : { staging }),
  };
}

/** With no more than its fields that tell whom to trust. Nobody can be asked without a certificate. */
export async function observeMembers(
  cluster: Cluster<PostgresSpec>,
  children: Children,
  io: EngineContext,
): Promise<readonly (LiveMember | SilentMember)[]> {
  try {
    return await askMembers(cluster, children, await patroniTls(cluster, io), io);
  } catch (error) {
    if (error instanceof SecretUnusable) return [];
    throw error;
  }
}

async function askMembers(
  cluster: Cluster<PostgresSpec>,
  children: Children,
  tls: TlsMaterial,
  io: EngineContext,
): Promise<readonly (LiveMember | SilentMember)[]> {
  return await Promise.all(memberPods(cluster, children).map((pod) => ask(pod, cluster, tls, io)));
}

/** What the operator makes and pods mount. No watch tells that one is gone, and the pod waits for it. */
function readAgain({ metadata }: Cluster<PostgresSpec>, io: EngineContext): void {
  const { authorities, certificates, poolerLogin, exporterLogin } = postgresNames(metadata.name);
  const mounted = [...Object.values(authorities), ...Object.values(certificates), poolerLogin, exporterLogin];
  for (const name of mounted) io.secretRefused(name);
}

/** A member may say that it imports where the spec names no source: nothing is made of that. A Job finds the source by itself. */
function isSourceWanted(cluster: Cluster<PostgresSpec>, children: Children, members: readonly LiveMember[]): boolean {
  const { spec, metadata } = cluster;
  if (followedSource(spec) !== undefined) return members.some(({ imported }) => imported !== undefined);
  const isCopying = cluster.status?.phase !== 'Ready' || children.get('Job', dumpJobName(metadata.name)) !== undefined;
  return dumpedSource(spec) !== undefined && isCopying;
}

/** Those of the pooler and of exporters have no Patroni. */
function memberPods({ metadata }: Cluster<PostgresSpec>, { pods }: Children): readonly Pod[] {
  return pods.filter((pod) => indexInPodName(metadata.name, pod.metadata.name) !== undefined);
}

function withLater<Member extends LiveMember | SilentMember>(member: Member, later: ReadonlyMap<string, LogPosition>) {
  const said = later.get(member.pod);
  return said === undefined ? member : { ...member, later: said };
}

async function lookAt(
  { pod, address }: LiveMember,
  tls: TlsMaterial,
  io: EngineContext,
): Promise<LiveMember | undefined> {
  try {
    return liveMember(pod, address, await callPatroni(io, address, { path: '/patroni', anyStatus: true }, tls));
  } catch {
    io.signal.throwIfAborted();
    return undefined;
  }
}

async function ask(
  pod: Pod,
  cluster: Cluster<PostgresSpec>,
  tls: TlsMaterial,
  io: EngineContext,
): Promise<LiveMember | SilentMember> {
  const { podIP, phase } = pod.status ?? {};
  if (podIP === undefined || phase !== 'Running') return silent(pod, `the pod is ${phase ?? 'not scheduled'}`);
  try {
    const answer = await callPatroni(io, podIP, { path: '/patroni', anyStatus: true }, tls);
    const member = liveMember(pod.metadata.name, podIP, answer);
    return member.postgres === 'running' ? { ...member, server: await observeServer(cluster, podIP, io) } : member;
  } catch (error) {
    io.signal.throwIfAborted();
    return silent(pod, (error as Error).message);
  }
}

/** Every member reads it from the store, so the answer of the first one counts. */
async function configOf(
  members: readonly LiveMember[],
  tls: TlsMaterial,
  io: EngineContext,
): Promise<PostgresObserved['config']> {
  for (const { address } of members) {
    try {
      return await callPatroni(io, address, { path: '/config' }, tls);
    } catch {
      io.signal.throwIfAborted();
    }
  }
  return undefined;
}

function silent(pod: Pod, why: string): SilentMember {
  return { state: 'silent', pod: pod.metadata.name, why };
}
