/** What a conversation is made of. Each yields something that must be as expected on either stage. */
import type { Answer } from '../../../../src/engines/postgres/client/patroni.ts';
import { serverQuestion } from '../../../../src/engines/postgres/client/questions/server.ts';
import type { PostgresSpecInput } from '../../../../src/engines/postgres/kind/schema.ts';
import { podName } from '../../../../src/engines/postgres/names.ts';
import { liveMember } from '../../../../src/engines/postgres/observe/member.ts';
import type { LiveMember } from '../../../../src/engines/postgres/observe/observed.ts';
import { scope } from './place.ts';
import type { Heard, Stage } from './stage.ts';

export interface Conversation {
  readonly story: string;
  /** Real processes play it in every `npm test`. */
  readonly isEssential?: true;
  /** Default: three members, one of whose standbys each commit waits for. */
  readonly spec?: PostgresSpecInput;
  /** Resolves with what was learned. */
  play(stage: Stage): Promise<unknown>;
  readonly yields: unknown;
}

export const pod = (member: number): string => podName(scope, member);

/** The fields of an answer; none where it is no object. */
export function fields(heard: Heard): Answer {
  if (heard === 'no answer') return {};
  try {
    return JSON.parse(heard.text) as Answer;
  } catch {
    return {};
  }
}

/** `412 leader name does not match`. An error page is its status alone. */
export function words(heard: Heard): string {
  if (heard === 'no answer') return heard;
  return /^\s*</.test(heard.text) ? String(heard.status) : `${heard.status} ${heard.text}`.trim();
}

/** As the operator reads it. */
export async function seen(stage: Stage, member: number): Promise<LiveMember | undefined> {
  const heard = await stage.call(member, 'GET', '/patroni');
  return heard === 'no answer' ? undefined : liveMember(pod(member), '', fields(heard));
}

/** `primary, timeline 1, of db-1-0 db-2-0` or `replica, timeline 1, streaming, synchronous`. */
export async function described(stage: Stage, member: number): Promise<string> {
  const found = await seen(stage, member);
  if (found === undefined) return 'no answer';
  return [
    ...(found.postgres === 'running' ? [] : [found.postgres]),
    found.role ?? 'no role',
    `timeline ${found.timeline}`,
    ...(found.standbys.length === 0 ? [] : [`of ${[...found.standbys].sort().join(' ')}`]),
    ...(found.isStreaming ? ['streaming'] : []),
    ...(found.isSynchronous ? ['synchronous'] : []),
    ...(found.restartPending ? ['restart pending'] : []),
    ...(found.awaitsPrimary ? ['awaits primary'] : []),
    ...(found.isUnlocked ? ['unlocked'] : []),
    ...(found.failsafe ? ['failsafe'] : []),
    ...(found.isPaused ? ['paused'] : []),
    ...(stage.label(member) === undefined ? ['no label'] : [`labelled ${stage.label(member)}`]),
  ].join(', ');
}

export const describedAll = (stage: Stage, ...members: readonly number[]): Promise<readonly string[]> =>
  Promise.all(members.map((member) => described(stage, member)));

export async function isLeading(stage: Stage, member: number): Promise<boolean> {
  const found = await seen(stage, member);
  return found?.role === 'primary' && found.postgres === 'running' && stage.state('leader')?.leader === pod(member);
}

export async function isStreaming(stage: Stage, member: number): Promise<boolean> {
  const found = await seen(stage, member);
  return found?.postgres === 'running' && found.isStreaming;
}

export async function waitsFor(stage: Stage, member: number): Promise<string> {
  const rows = await stage.ask(member, serverQuestion);
  return typeof rows === 'string' ? rows : (rows[0]?.waitsFor ?? 'no row').replaceAll('"', '');
}

/** Leader, voters and quorum, as the store has them. */
export function sync(stage: Stage): string {
  const { leader = 'nobody', sync_standby = '', quorum = '0' } = stage.state('sync') ?? {};
  return `${leader}: ${quorum} of ${sync_standby.split(',').sort().join(' ')}`;
}

/** Who leads, of these; waits until somebody does. */
export async function leader(stage: Stage, ...members: readonly number[]): Promise<number> {
  let found: number | undefined;
  await stage.until('somebody leads', async () => {
    for (const member of members) if (await isLeading(stage, member)) found = member;
    return found !== undefined;
  });
  return found ?? Number.NaN;
}

/** Starts the first one as the one that makes the database, and the others when it leads. Waits until commits wait for standbys. */
export async function form(stage: Stage, ...members: readonly number[]): Promise<void> {
  const [first = 0, ...others] = members;
  await stage.start(first, 'form');
  await stage.until('the first one leads', () => isLeading(stage, first));
  for (const member of others) await stage.start(member);
  for (const member of others) await stage.until(`${pod(member)} streams`, () => isStreaming(stage, member));
  await settled(stage, first, ...others);
}

/** Everybody streams from this one, and is a voter. */
export async function settled(stage: Stage, primary: number, ...standbys: readonly number[]): Promise<void> {
  const names = standbys.map(pod).sort();
  const wanted = `${pod(primary)}: ${Math.max(0, names.length - 1)} of ${names.join(' ')}`;
  await stage.until(`the others of ${pod(primary)} are voters`, async () => {
    const all = await Promise.all(standbys.map((member) => isStreaming(stage, member)));
    return all.every(Boolean) && (await isLeading(stage, primary)) && sync(stage) === wanted;
  });
  await stage.until('labels and answers say so', async () => {
    const found = await Promise.all(standbys.map((member) => seen(stage, member)));
    const isSaid = found.every(
      (member, at) =>
        member?.isSynchronous === true && !member.failsafe && stage.label(standbys[at] ?? 0) === 'replica',
    );
    if (!isSaid || stage.label(primary) !== 'primary') return false;
    return (await seen(stage, primary))?.standbys.length === standbys.length;
  });
}
