/**
 * A client of an etcd as an application is one: it shows a certificate and says who it is, where that is asked for.
 *
 * A token is known to the member that gave it before anybody else, and a member that starts again knows none: so there
 * is one for each member, got anew when it is refused.
 */
import type { TlsMaterial } from '../../src/engine/engine-context.ts';
import { exchangeOver } from '../../src/runtime/http-exchange.ts';
import { dialTcp } from '../../src/system/dial.ts';

export type Answer = Readonly<Record<string, unknown>>;

/** Asks one process through its gateway; a refusal rejects. Default time: 2 s. */
export type AskEtcd = (host: string, path: string, body?: object, withinMs?: number) => Promise<Answer>;

/** What a client shows of itself. */
export interface Shown {
  readonly token?: string;
  readonly tls?: TlsMaterial;
}

/** What is asked for anew whenever it is needed. */
export interface Identity {
  /** Default: connections are not secured. */
  readonly tls?: () => TlsMaterial;
  /** Of root. Default: nobody is asked who they are. */
  readonly password?: () => Promise<string>;
}

export async function askEtcd(
  host: string,
  path: string,
  body: object = {},
  withinMs = 2000,
  { token, tls }: Shown = {},
): Promise<Answer> {
  const signal = AbortSignal.timeout(withinMs);
  const request = {
    host,
    port: 2379,
    method: 'POST',
    path: `/v3/${path}`,
    body: JSON.stringify(body),
    signal,
    ...(token === undefined ? {} : { headers: { authorization: token } }),
    ...(tls === undefined ? {} : { tls }),
  } as const;
  const { status, body: text } = await exchangeOver(dialTcp, request);
  if (status !== 200) throw new Error(`${path}: ${text}`);
  return JSON.parse(text) as Answer;
}

export function etcdClient({ tls, password }: Identity): AskEtcd {
  const tokens = new Map<string, Promise<string>>();
  const shown = (): Shown => (tls === undefined ? {} : { tls: tls() });

  /** Those who ask at once share one token: to check a password costs a member a tenth of a second. */
  function tokenOf(host: string, getPassword: () => Promise<string>): Promise<string> {
    const known = tokens.get(host);
    if (known !== undefined) return known;
    const token = (async () => {
      const credentials = { name: 'root', password: await getPassword() };
      return String((await askEtcd(host, 'auth/authenticate', credentials, 2000, shown())).token);
    })();
    tokens.set(host, token);
    token.catch(() => forget(host, token));
    return token;
  }

  function forget(host: string, token: Promise<string>): void {
    if (tokens.get(host) === token) tokens.delete(host);
  }

  return async (host, path, body, withinMs) => {
    if (password === undefined) return askEtcd(host, path, body, withinMs, shown());
    for (let attempt = 1; ; attempt++) {
      const token = tokenOf(host, password);
      try {
        return await askEtcd(host, path, body, withinMs, { ...shown(), token: await token });
      } catch (error) {
        if (attempt > 1 || !/invalid auth token/.test(String(error))) throw error;
        forget(host, token);
      }
    }
  };
}
