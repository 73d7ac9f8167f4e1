/**
 * A client of a simulated etcd that keeps a ledger: what was acknowledged must be readable, at once through another
 * member, and at the end.
 *
 * It asks whom the Service leads to, one key after another, and asks somebody else after any error.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { exchangeOver } from '../../../src/runtime/http-exchange.ts';
import type { LedgerRecord } from '../record.ts';
import type { SimulatedLedger, SimulatedWorld } from '../subject.ts';
import { rootPasswords } from './passwords.ts';

/** The client is no pod: no cut between pods concerns it, except one from everybody. */
const clientAddress = '10.2.0.9';
const port = 2379;
const paceMs = 400;
/** Keys that are read at once: an answer may be 64 KiB long. */
const page = 200;
const answerMs = 500;
const againMs = 50;
/** A time without an acknowledged write that is worth telling. */
const outageMs = 3_000;
/** Every so many writes are read back at once. */
const readEvery = 5;

type Answer = Readonly<Record<string, unknown>>;
const encoded = (text: string): string => Buffer.from(text).toString('base64');

export function openSimulatedLedger(world: SimulatedWorld): SimulatedLedger {
  const { time, kubernetes, network, namespace, cluster } = world;
  const acknowledged: string[] = [];
  const unread: string[] = [];
  const outages: { from: number; to: number }[] = [];
  let isStopped = false;
  let lastAt = time.monotonic();
  let longestGapMs = 0;
  let token: string | undefined;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      time.after(ms, resolve);
    });

  /** Of the members that are ready, as kube-proxy knows them. */
  function entrances(): readonly string[] {
    const slice = kubernetes
      .objects()
      .find(
        ({ kind, metadata }) =>
          kind === 'EndpointSlice' &&
          metadata.namespace === namespace &&
          metadata.labels?.['kubernetes.io/service-name'] === `${cluster}-client`,
      ) as
      | (KubeObject & {
          readonly endpoints?:
            | readonly { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } }[]
            | null;
        })
      | undefined;
    return (slice?.endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => addresses);
  }

  /** Whom etcd wants to know is asked for again when it has forgotten: a token goes with the password. */
  async function ask(host: string, path: string, body: object): Promise<Answer> {
    try {
      return await send(host, path, body);
    } catch (error) {
      if (!(error instanceof Error) || !/user name is empty|invalid auth token/.test(error.message)) throw error;
      token = await signIn(host);
      return await send(host, path, body);
    }
  }

  async function signIn(host: string): Promise<string> {
    const [present = '', ...former] = rootPasswords(world);
    const withOne = async (password: string): Promise<string> =>
      String((await send(host, 'auth/authenticate', { name: 'root', password })).token);
    return await withOne(present).catch(async (error: unknown) => {
      const [before] = former;
      if (before === undefined) throw error;
      return await withOne(before);
    });
  }

  async function send(host: string, path: string, body: object): Promise<Answer> {
    const giveUp = new AbortController();
    const cancel = time.after(answerMs, () => giveUp.abort(new Error(`${path}: no answer within ${answerMs} ms`)));
    try {
      const { status, body: text } = await exchangeOver(
        (to, at, signal) => network.dial(clientAddress, to, at, signal),
        {
          ...{ host, port, method: 'POST', path: `/v3/${path}`, body: JSON.stringify(body), signal: giveUp.signal },
          ...(token === undefined ? {} : { headers: { authorization: token } }),
        },
      );
      if (status !== 200) throw new Error(`${path}: ${text}`);
      return JSON.parse(text) as Answer;
    } finally {
      cancel();
    }
  }

  async function readBack(key: string, host: string): Promise<void> {
    const found = await ask(host, 'kv/range', { key: encoded(key) }).catch(() => undefined);
    // No answer is no wrong answer.
    if (found !== undefined && found.kvs === undefined) unread.push(`${key}, which ${host} does not have`);
  }

  function acknowledge(key: string): void {
    const now = time.monotonic();
    if (now - lastAt > outageMs) outages.push({ from: lastAt, to: now });
    longestGapMs = Math.max(longestGapMs, now - lastAt);
    lastAt = now;
    acknowledged.push(key);
  }

  async function write(): Promise<void> {
    let turn = 0;
    for (let n = 0; !isStopped; n++) {
      const hosts = entrances();
      const host = hosts[turn % Math.max(1, hosts.length)];
      try {
        if (host === undefined) throw new Error('the Service has no endpoint');
        const key = `key:${n}`;
        await ask(host, 'kv/put', { key: encoded(key), value: encoded(String(n)) });
        acknowledge(key);
        const other = hosts[(turn + 1) % hosts.length];
        if (n % readEvery === 0 && other !== undefined) await readBack(key, other);
        await pause(paceMs);
      } catch {
        turn++;
        await pause(againMs);
      }
    }
  }

  async function lost(): Promise<readonly string[]> {
    for (let attempt = 0; ; attempt++) {
      try {
        const [host] = entrances();
        if (host === undefined) throw new Error('the Service has no endpoint');
        const found = new Map<string, string>();
        for (let from: string | undefined = 'key:'; from !== undefined; ) {
          const range = { key: encoded(from), range_end: encoded('key;'), limit: page };
          const { kvs = [], more } = (await ask(host, 'kv/range', range)) as {
            readonly kvs?: readonly { readonly key: string; readonly value: string }[];
            readonly more?: boolean;
          };
          for (const { key, value } of kvs) found.set(key, value);
          const last = kvs.at(-1)?.key;
          from = more === true && last !== undefined ? `${Buffer.from(last, 'base64')}\0` : undefined;
        }
        return acknowledged.filter((key) => found.get(encoded(key)) !== encoded(key.slice('key:'.length)));
      } catch (error) {
        if (attempt === 20)
          return [`everything: it cannot be read: ${error instanceof Error ? error.message : String(error)}`];
        await pause(500);
      }
    }
  }

  const writing = write();
  return {
    async close(): Promise<LedgerRecord> {
      isStopped = true;
      await writing;
      const now = time.monotonic();
      if (now - lastAt > outageMs) outages.push({ from: lastAt, to: now });
      return {
        acknowledged: acknowledged.length,
        lost: acknowledged.length === 0 ? unread : [...unread, ...(await lost())],
        longestGapMs: Math.max(longestGapMs, now - lastAt),
        outages,
      };
    },
  };
}
