/** What a conversation is made of. Each yields something that must be as expected on either stage. */
import type { Answer, Stage, StartOptions } from './stage.ts';

export interface Conversation {
  readonly story: string;
  /** Resolves with what was learned. */
  play(stage: Stage): Promise<unknown>;
  readonly yields: unknown;
  /** Where it is about members of one minor version. */
  readonly only?: '3.5' | '3.6';
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

export function field(answer: Answer, name: string): unknown {
  return typeof answer === 'string' ? undefined : answer[name];
}

/** A refusal as it is, and of everything else that it was done. */
export const verdict = (answer: Answer): string => (typeof answer === 'string' ? answer : 'done');

export async function isReady(stage: Stage, member: string): Promise<boolean> {
  const status = await stage.ask(member, 'maintenance/status', {}, { withinMs: 1000 });
  return Number(field(status, 'leader') ?? 0) > 0;
}

/** It answers, and says that nobody leads. */
export async function isLeaderless(stage: Stage, member: string): Promise<boolean> {
  const status = await stage.ask(member, 'maintenance/status');
  return typeof status !== 'string' && Number(field(status, 'leader') ?? 0) === 0;
}

export async function version(stage: Stage, member: string): Promise<string> {
  return String(field(await stage.ask(member, 'maintenance/status'), 'version'));
}

export async function ready(stage: Stage, ...members: readonly string[]): Promise<void> {
  for (const member of members) await stage.until(`${member} is led`, () => isReady(stage, member));
}

export const newCluster = (...cluster: readonly string[]): StartOptions => ({ state: 'new', cluster });
export const joining = (...cluster: readonly string[]): StartOptions => ({ state: 'existing', cluster });

/** Forms a cluster of these, and waits until all of them answer. */
export async function form(stage: Stage, ...members: readonly string[]): Promise<void> {
  for (const member of members) await stage.start(member, newCluster(...members));
  await ready(stage, ...members);
}

/** Long enough for every connection to count, which it does from five seconds on. */
export const settle = (stage: Stage): Promise<void> => stage.pause(9_000);

interface Row {
  readonly ID: string;
  readonly name?: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs?: readonly string[];
  readonly isLearner?: boolean;
}

/** As a majority has confirmed it; an election may lie in between. */
export async function rows(stage: Stage, via: string): Promise<readonly Row[]> {
  let members: readonly Row[] = [];
  await stage.until(`${via} lists the members`, async () => {
    const answer = await stage.ask(via, 'cluster/member/list', { linearizable: true });
    members = (field(answer, 'members') ?? []) as readonly Row[];
    return members.length > 0;
  });
  return members;
}

/** `n1`, `n2 learner`, `n3 (not started)`: in the order of their addresses. */
export async function listed(stage: Stage, via: string): Promise<readonly string[]> {
  const found = await rows(stage, via);
  return found
    .map(({ peerURLs, name, isLearner, clientURLs }) => {
      const place = `n${Number(/\.(\d+):2380/.exec(peerURLs[0] ?? '')?.[1]) - 10}`;
      const started = clientURLs === undefined ? ' (not started)' : '';
      return `${place}${isLearner === true ? ' learner' : ''}${started}${name === undefined || name === place ? '' : ' ?'}`;
    })
    .sort();
}

export async function idOf(stage: Stage, member: string, via: string): Promise<string> {
  const found = (await rows(stage, via)).find(({ peerURLs }) => peerURLs.includes(stage.peerUrl(member)));
  return found?.ID ?? '0';
}

export async function put(stage: Stage, member: string, key: string, value: string): Promise<string> {
  return verdict(await stage.ask(member, 'kv/put', { key: base64(key), value: base64(value) }));
}

export async function get(stage: Stage, member: string, key: string, isSerializable = false): Promise<unknown> {
  const answer = await stage.ask(member, 'kv/range', { key: base64(key), serializable: isSerializable });
  if (typeof answer === 'string') return answer;
  const [pair] = (answer.kvs ?? []) as readonly { readonly value: string }[];
  return pair === undefined ? undefined : Buffer.from(pair.value, 'base64').toString();
}

/** What it reads once it can: a member that has just come may have yet to apply it, and an election may lie in between. */
export async function served(stage: Stage, member: string, key: string, isSerializable = false): Promise<unknown> {
  let value: unknown;
  await stage.until(`${member} serves ${key}`, async () => {
    value = await get(stage, member, key, isSerializable);
    return typeof value === 'string' && !/^(\d+ \w|no answer)/.test(value);
  });
  return value;
}

export async function add(stage: Stage, via: string, member: string, isLearner = true): Promise<string> {
  return verdict(await stage.ask(via, 'cluster/member/add', { peerURLs: [stage.peerUrl(member)], isLearner }));
}

export async function remove(stage: Stage, via: string, member: string): Promise<string> {
  return verdict(await stage.ask(via, 'cluster/member/remove', { ID: await idOf(stage, member, via) }));
}

export async function promote(stage: Stage, via: string, member: string): Promise<string> {
  return verdict(await stage.ask(via, 'cluster/member/promote', { ID: await idOf(stage, member, via) }));
}

/** Who leads, as one of them says. */
export async function leader(stage: Stage, members: readonly string[]): Promise<string> {
  for (const member of members) {
    const status = await stage.ask(member, 'maintenance/status', {}, { withinMs: 1000 });
    const { member_id: own } = (field(status, 'header') ?? {}) as { readonly member_id?: string };
    if (own !== undefined && field(status, 'leader') === own) return member;
  }
  return 'nobody';
}

/** The part of a process' last words that says why. */
export const reason = (words: string, ...reasons: readonly string[]): string =>
  reasons.find((candidate) => words.includes(candidate)) ?? words;
