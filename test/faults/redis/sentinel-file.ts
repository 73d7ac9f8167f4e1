/**
 * The sentinel's own file: what the start script writes and the sentinel rewrites with all that it learns. It lives in
 * a volume, so that a restarted container goes on where it stood.
 */
import type { Volume } from '../world/workload.ts';
import { defaultRuleOf, type Hashes, userOf } from './users.ts';
import type { WatchSettings } from './watch.ts';

export const sentinelFile = 'sentinel.conf';

export interface StoredWatch {
  readonly name: string;
  readonly ip: string;
  readonly port: number;
  readonly settings: WatchSettings;
  readonly configEpoch: number;
  readonly leaderEpoch: number;
  readonly replicas: readonly (readonly [ip: string, port: number])[];
  readonly peers: readonly (readonly [ip: string, port: number, runId: string])[];
}

export interface SentinelConf {
  readonly id: string;
  readonly announceIp: string;
  /** Of the sentinels among themselves and for their clients. */
  readonly password: string;
  /** As whom it asks other sentinels. */
  readonly peerUser: string;
  readonly peerPassword: string;
  readonly users: Hashes;
  /** Of the default user, where it has a rule: hashes. */
  readonly accepted?: readonly string[];
  readonly currentEpoch: number;
  readonly watches: readonly StoredWatch[];
}

export const defaultSettings: WatchSettings = {
  quorum: 1,
  downAfter: 30_000,
  failoverTimeout: 180_000,
  parallelSyncs: 1,
  password: '',
  user: '',
};

/** The directive names of a watch's settings, as `SENTINEL SET` and the file have them. */
export const settingNames = {
  quorum: 'quorum',
  'down-after-milliseconds': 'downAfter',
  'failover-timeout': 'failoverTimeout',
  'parallel-syncs': 'parallelSyncs',
} as const satisfies Readonly<Record<string, keyof WatchSettings>>;

/** A sentinel writes passwords without the quotes that some of them need, and cannot read such a file again. */
export type ReadFile = SentinelConf | 'none' | 'unreadable';

export function readSentinelFile(volume: Volume | undefined): ReadFile {
  const conf = volume?.get(sentinelFile) as SentinelConf | undefined;
  if (conf === undefined) return 'none';
  const passwords = [conf.peerPassword, ...conf.watches.map((watch) => watch.settings.password)];
  return passwords.some((password) => /[\s"']/.test(password)) ? 'unreadable' : conf;
}

export function writeSentinelFile(volume: Volume | undefined, conf: SentinelConf): void {
  volume?.set(sentinelFile, conf);
}

/** Of what a client may send. */
const limits = ['client-query-buffer-limit', 'proto-max-bulk-len'];

/** Reads the lines that the start script writes. Throws on one that the sentinel does not know. */
export function parseSentinelConf(lines: readonly (readonly string[])[]): SentinelConf {
  let [id, announceIp, password, peerUser, peerPassword] = ['', '', '', '', ''];
  const users = new Map<string, string>();
  let accepted: readonly string[] | undefined;
  let watches: StoredWatch[] = [];
  const change = (name: string | undefined, settings: Partial<WatchSettings>): void => {
    watches = watches.map((w) => (w.name === name ? { ...w, settings: { ...w.settings, ...settings } } : w));
  };
  for (const [first = '', ...rest] of lines) {
    if (['', 'port', 'dir', 'protected-mode', ...limits].includes(first)) continue;
    if (first === 'requirepass') {
      password = rest[0] ?? '';
      continue;
    }
    if (first === 'user' && rest[0] === 'default') {
      accepted = defaultRuleOf(rest);
      if (accepted === undefined) throw new Error(`Bad user: ${rest.join(' ')}`);
      continue;
    }
    if (first === 'user') {
      const user = userOf(rest);
      if (user === undefined || users.has(user[0])) throw new Error(`Bad user: ${rest.join(' ')}`);
      users.set(...user);
      continue;
    }
    const [directive = '', name = '', value = ''] = rest;
    if (first !== 'sentinel') throw new Error(`Bad directive: ${first}`);
    if (directive === 'myid') id = name;
    else if (directive === 'announce-ip') announceIp = name;
    else if (directive === 'auth-pass') change(name, { password: value });
    else if (directive === 'auth-user') change(name, { user: value });
    else if (directive === 'sentinel-user') peerUser = name;
    else if (directive === 'sentinel-pass') peerPassword = name;
    else if (directive === 'monitor') {
      const settings = { ...defaultSettings, quorum: Number(rest[4]) };
      const at = { ip: value, port: Number(rest[3]) };
      watches.push({ name, ...at, settings, configEpoch: 0, leaderEpoch: 0, replicas: [], peers: [] });
    } else if (directive in settingNames) {
      change(name, { [settingNames[directive as keyof typeof settingNames]]: Number(value) });
    } else throw new Error(`Unrecognized sentinel configuration statement: ${directive}`);
  }
  const own = accepted === undefined ? {} : { accepted };
  return { id, announceIp, password, peerUser, peerPassword, users, ...own, currentEpoch: 0, watches };
}
