/**
 * Where a conversation with etcd takes place: with real processes or with simulated ones. Members are called `n1`, `n2`,
 * and so on; each has an address and a volume of its own. Numbers of members come back as these names.
 */

import type { livenessPath } from '../../../../src/engines/etcd/resources/pods.ts';

export interface StartOptions {
  readonly state: 'new' | 'existing';
  /** Everybody in `initial-cluster`. */
  readonly cluster: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
}

/** `200` with the fields of the answer, or a refusal as `CODE MESSAGE`. */
export type Answer = Readonly<Record<string, unknown>> | string;

export interface End {
  readonly code: number | null;
  readonly words: string;
}

export interface Stage {
  /** Starts its process on the volume that it had. Does not wait for anything. */
  start(member: string, options: StartOptions): Promise<void>;
  /** One call, which is given up after so long; default 9 s. */
  ask(member: string, path: string, body?: object, options?: { token?: string; withinMs?: number }): Promise<Answer>;
  /** Whether the kubelet's question is answered well. */
  probe(member: string, path: '/livez' | typeof livenessPath | '/readyz'): Promise<boolean>;
  /** What its metrics say, as far as the operator asks for it; undefined where nobody answers. */
  metrics(member: string): Promise<string | undefined>;
  kill(member: string): Promise<void>;
  terminate(member: string): Promise<void>;
  /** Its data comes apart from the others', under its process: of keys that hold 3000 times `x`. */
  spoil(member: string): Promise<void>;
  /** Everything on its volume is gone. */
  wipe(member: string): Promise<void>;
  hasEnded(member: string): boolean;
  /** Resolves when its process has ended by itself. */
  ended(member: string): Promise<End>;
  pause(ms: number): Promise<void>;
  /** Asks until the answer is yes. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  peerUrl(member: string): string;
  close(): Promise<void>;
}

export const electionMs = 1000;

/** What both stages start a process with; the rest follows from addresses. */
export function environmentOf(
  stage: Pick<Stage, 'peerUrl'>,
  member: string,
  { state, cluster, settings = {} }: StartOptions,
): Record<string, string> {
  return {
    ETCD_NAME: member,
    ETCD_INITIAL_ADVERTISE_PEER_URLS: stage.peerUrl(member),
    ETCD_ADVERTISE_CLIENT_URLS: stage.peerUrl(member).replace('2380', '2379'),
    ETCD_INITIAL_CLUSTER_STATE: state,
    ETCD_INITIAL_CLUSTER: cluster.map((name) => `${name}=${stage.peerUrl(name)}`).join(','),
    ETCD_INITIAL_CLUSTER_TOKEN: 'token',
    ETCD_ELECTION_TIMEOUT: String(electionMs),
    ...settings,
  };
}

/** As an answer of the gateway says it. */
export function heard(status: number, text: string): Answer {
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return status === 200 ? fields : `${fields.code} ${fields.message}`;
}

export const hostNumber = (member: string): number => 10 + Number(member.slice(1));
