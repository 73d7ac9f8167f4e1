/**
 * HAProxy's configuration: clients are led to the address that a majority of the sentinels names, and to nobody where there is none.
 *
 * Each sentinel is a backend that serves nobody. Its health check asks it for the address of the primary and keeps the answer in a
 * variable of the process; the state of that check tells whether the answer is of now. A sentinel has one vote, so two addresses cannot
 * have a majority at one time.
 *
 * There is one server, `primary`. It has no address: a connection is led to the address in `proc.primary`. Its health check asks this
 * process itself (`decide`) whether the majority still names that address. Where it does not, the server is down, which ends every
 * connection through it; and only then `proc.primary` becomes another one. So no connection stays with a primary that was replaced.
 *
 * Data nodes are asked nothing: how many there are and which addresses they get is not in here. It holds no password either.
 */
import type { Cluster } from '../../../api/cluster.ts';
import { identityUser } from '../client/identity.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { dataPort, proxyDecisionPort, proxyHealthPort, redisNames, sentinelPort, tlsPort } from '../names.ts';
import { timingOf } from './timing.ts';

export type ProxySpec = NonNullable<RedisSpec['proxy']>;

/** As `proxyUser` in `library.sh`. A sentinel of another cluster does not know it. */
export function proxyUser(cluster: Cluster<RedisSpec>): string {
  return `${identityUser(cluster)}/proxy`;
}

/** Probes, metrics and the process's own question come in whatever clients do. */
const reserved = 100;

/** Of `proxy.sh`. */
const fromEnvironment = (name: string): string => `"\${${name}}"`;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** The two must differ: nobody is led anywhere before the first majority. */
const initial = (sentinels: number): string[] => [
  'set-var proc.primary str(nobody)',
  'set-var proc.majority str(none)',
  ...numbers(sentinels).map((i) => `set-var proc.named${i} str(none)`),
];

/** Of an answer to `AUTH` and `SENTINEL GET-MASTER-ADDR-BY-NAME`: an address of version 4 or 6, and the port that all nodes have. */
const answer = String.raw`^\+OK\r\n\*2\r\n\$[0-9]+\r\n[0-9a-fA-F:.]+\r\n\$[0-9]+\r\n${dataPort}\r\n$`;

function sentinelBackend(cluster: Cluster<RedisSpec>, i: number): string[] {
  const { name, namespace } = cluster.metadata;
  const { sentinel } = redisNames(name);
  const { proxyAsksMs } = timingOf(cluster);
  const host = `${sentinel}-${i}.${sentinel}.${namespace}.svc.\${CLUSTER_DOMAIN}`;
  const question = `AUTH ${proxyUser(cluster)} none\\r\\nSENTINEL GET-MASTER-ADDR-BY-NAME ${name}\\r\\n`;
  return [
    `backend sentinel-${i}`,
    '  option tcp-check',
    '  tcp-check connect',
    `  tcp-check send "${question}"`,
    `  tcp-check expect rstring '${answer}'`,
    `  tcp-check set-var(proc.named${i}) res.payload(0,0),word(4,"\\r\\n")`,
    `  server sentinel "${host}:${sentinelPort}" resolvers cluster resolve-prefer ${fromEnvironment('IP_FAMILY')} init-addr none check inter ${proxyAsksMs}ms fall 2 rise 1`,
  ];
}

/** Whom a majority names is named by one of the first of them, too: the others alone are too few. */
function decision(sentinels: number): string[] {
  const majority = Math.floor(sentinels / 2) + 1;
  return [
    'http-request set-var(txn.majority) str(none)',
    ...numbers(sentinels - majority + 1).flatMap((i) => [
      'http-request set-var(txn.votes) int(0)',
      ...numbers(sentinels).map(
        (j) =>
          `http-request set-var(txn.votes) var(txn.votes),add(1) if { nbsrv(sentinel-${j}) gt 0 } { var(proc.named${i}),strcmp(proc.named${j}) eq 0 }`,
      ),
      `http-request set-var(txn.majority) var(proc.named${i}) if { var(txn.votes) -m int ge ${majority} } !{ var(proc.named${i}) -m str none }`,
    ]),
    'http-request set-var(proc.majority) var(txn.majority)',
    // No connection is left of the one before.
    'http-request set-var(proc.primary) var(txn.majority) if { nbsrv(primary) eq 0 } !{ var(txn.majority) -m str none }',
    'http-request return status 200 if { var(proc.majority),strcmp(proc.primary) eq 0 }',
    'http-request return status 503',
  ];
}

export function haproxyConfig(cluster: Cluster<RedisSpec>, { maxClients }: ProxySpec): string {
  const sentinels = cluster.spec.sentinel.replicas;
  const { proxyAnswerMs } = timingOf(cluster);
  const hasTls = cluster.spec.tls !== undefined;
  const section = (head: string, ...lines: readonly string[]): string[] => [head, ...lines.map((line) => `  ${line}`)];
  const lines = [
    ...section(
      'global',
      `maxconn ${maxClients + reserved}`,
      'nbthread 2',
      'log stdout format raw daemon notice',
      // Where the image has its process told to end softly. Connections of Redis do not end by themselves.
      'hard-stop-after 1s',
      ...initial(sentinels),
    ),
    ...section(
      'defaults',
      'mode tcp',
      'log global',
      'timeout connect 2s',
      // The longest that there is. Who is gone without a word is noticed by keepalives.
      'timeout client 24d',
      'timeout server 24d',
      'timeout client-fin 30s',
      'timeout server-fin 30s',
      `timeout check ${proxyAnswerMs}ms`,
      'retries 0',
      'option clitcpka',
      'clitcpka-idle 60s',
      'clitcpka-intvl 10s',
      'clitcpka-cnt 3',
      'option srvtcpka',
      'srvtcpka-idle 60s',
      'srvtcpka-intvl 10s',
      'srvtcpka-cnt 3',
    ),
    ...section(
      'resolvers cluster',
      'parse-resolv-conf',
      'accepted_payload_size 8192',
      'timeout resolve 2s',
      'timeout retry 1s',
      'hold valid 1s',
      // An address stays until there is another. Whether somebody answers there is for the check.
      ...['nx', 'obsolete', 'other', 'refused', 'timeout'].map((state) => `hold ${state} 1h`),
    ),
    ...section(
      'frontend redis',
      `bind "\${BIND}:${dataPort}"`,
      ...(hasTls ? [`bind "\${BIND}:${tlsPort}"`] : []),
      `maxconn ${maxClients}`,
      'no log',
      // Led to itself, it would be its own client without end.
      `tcp-request connection reject if { src ${fromEnvironment('POD_IP')} }`,
      'tcp-request connection reject unless { nbsrv(primary) gt 0 } { var(proc.majority),strcmp(proc.primary) eq 0 }',
      ...(hasTls ? [`use_backend primary-tls if { dst_port ${tlsPort} }`] : []),
      'default_backend primary',
    ),
    ...section(
      'backend primary',
      'tcp-request content set-dst var(proc.primary)',
      'option httpchk',
      'http-check send meth GET uri /',
      'http-check expect status 200',
      `server primary 0.0.0.0:${dataPort} check addr 127.0.0.1 port ${proxyDecisionPort} inter 100ms fastinter 50ms downinter 50ms fall 2 rise 1 on-marked-down shutdown-sessions`,
    ),
    // TLS is between the client and the server. It is one server with two ports: it is down for both at the same time.
    ...(hasTls
      ? section(
          'backend primary-tls',
          'tcp-request content set-dst var(proc.primary)',
          `server primary 0.0.0.0:${tlsPort} track primary/primary on-marked-down shutdown-sessions`,
        )
      : []),
    ...section(
      'frontend decide',
      'mode http',
      `bind 127.0.0.1:${proxyDecisionPort}`,
      'timeout client 5s',
      'timeout http-request 5s',
      'no log',
      ...decision(sentinels),
    ),
    ...section(
      'frontend health',
      'mode http',
      `bind "\${BIND}:${proxyHealthPort}"`,
      'maxconn 50',
      'timeout client 5s',
      'timeout http-request 5s',
      'no log',
      'http-request use-service prometheus-exporter if { path /metrics }',
      'http-request return status 200 if { path /alive }',
      'http-request return status 200 if { path /ready } { nbsrv(primary) gt 0 }',
      'http-request return status 503',
    ),
    ...numbers(sentinels).flatMap((i) => sentinelBackend(cluster, i)),
  ];
  return `${lines.join('\n')}\n`;
}
