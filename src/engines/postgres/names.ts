/**
 * Every name, port and path of a PostgresCluster's objects, in one place: selectors and volumes depend on them for ever.
 *
 * A member has a number of its own, which no later member of the cluster gets. So an address, a volume and a name stand for one
 * member, and a new one never meets an old one's data.
 */

export const sqlPort = 5432;
/** Patroni's REST API. */
export const patroniPort = 8008;
/** PgBouncer's, also of its console. */
export const poolerPort = 6432;
/** Metrics. */
export const exporterPort = 9187;

/** On a pod: `primary` or `replica`. Patroni writes it on its own pod; see `relabel.py` for those of others. */
export const roleLabel = 'clusterwright.dev/role';

/** On a pod: which authorities its processes trust. Others need a restart. */
export const authoritiesAnnotation = 'clusterwright.dev/authorities';

/** On a pod: a digest of the CAs that it knows servers by, from the file itself. `relabel.py` writes it. */
export const serverCasAnnotation = 'clusterwright.dev/server-cas';

/** On a pod: a digest of the configuration that it has started with. Another one needs a restart. */
export const configAnnotation = 'clusterwright.dev/config';

/** On a claim: its member has been replaced or removed. The data is kept, and no process is ever started on it again. */
export const retiredAnnotation = 'clusterwright.dev/retired';

/** On a claim: the system identifier of the data that it holds. A claim without it holds nobody's. */
export const holdsAnnotation = 'clusterwright.dev/postgres-system';

/** On a claim: the major version of PostgreSQL that its data has. */
export const versionAnnotation = 'clusterwright.dev/postgres-version';

/** On a claim that an upgrade has retired: the version of its data, which is equal to what the upgrade began with. */
export const wayBackAnnotation = 'clusterwright.dev/way-back';
/** The permanent physical slot that keeps what the archive does not have yet. */
export const archiveSlot = 'archive';
/** On the custom resource: `POD@UID/GENERATION/LSN` of whose data alone the cluster is to go on with: see `plan/recovery-request.ts`. */
export const recoverAnnotation = 'clusterwright.dev/recover-from';

/** On the custom resource: the pod whose member is to be replaced. Its volume is kept. */
export const replaceAnnotation = 'clusterwright.dev/replace-member';

/** On the custom resource: `verified` or `stopped`, or the position in the log where an import is to end. See `plan/import.ts`. */
export const cutOverAnnotation = 'clusterwright.dev/cut-over';

/** A setting of PostgreSQL that means nothing to it. It has a digest of the shared configuration, and a server that has it has read it. */
export const configSetting = 'clusterwright.config';

export const component = 'member';
export const poolerComponent = 'pooler';
export const exporterComponent = 'exporter';

export const paths = {
  volume: '/var/lib/postgresql',
  /** One below the volume, so that PostgreSQL makes it with the permissions that it wants. */
  data: '/var/lib/postgresql/data',
  /** Where a restore puts a backup, beside the data, until it is recovered. */
  restored: '/var/lib/postgresql/restored',
  /** Where a restore finds more of the log than is in the backup. It need not be there. */
  restoredLog: '/var/lib/postgresql/restored.wal',
  /** A volume of its own for the log, where there is one. */
  walVolume: '/var/lib/postgresql-wal',
  /** Where `pg_wal` leads to then. An upgrade gives it another name beside it: see `upgrade.sh`. */
  wal: '/var/lib/postgresql-wal/pg_wal',
  socket: '/var/run/postgresql',
  patroni: '/etc/patroni',
  tls: '/etc/postgresql/tls',
  account: '/var/run/secrets/kubernetes.io/serviceaccount',
} as const;

/** In the pods of the pooler. */
export const poolerPaths = { config: '/etc/pgbouncer', tls: '/etc/pgbouncer-tls', socket: '/run/pgbouncer' } as const;
/** Where an image has the programs of a major version. */
export function programs(version: string): string {
  return `/usr/lib/postgresql/${version}/bin`;
}

/** Roles that are not the user's. Who shows a certificate with the name is that role. */
export const roles = {
  superuser: 'postgres',
  operator: 'clusterwright',
  replication: 'replicator',
  rewind: 'rewinder',
  /** May call the function that returns verifiers, and nothing else. Has a password. */
  pooler: 'clusterwright_pooler',
  /** Reads statistics. Has a password. */
  monitor: 'clusterwright_monitor',
} as const;

export interface PostgresNames {
  /** Headless Service of all members. */
  readonly members: string;
  /** Service of the primary. */
  readonly primary: string;
  /** Service of the standbys that are ready. */
  readonly replicas: string;
  /** ServiceAccount of the pods, with a Role and a RoleBinding of the same name. */
  readonly account: string;
  /** ConfigMap with Patroni's configuration. */
  readonly patroni: string;
  /** ConfigMap with how each member is to start: see `roster.ts`. */
  readonly roster: string;
  /** ConfigMaps that Patroni keeps its state in. Their names follow from its scope, which is the cluster's name. */
  readonly state: {
    readonly config: string;
    readonly leader: string;
    readonly failover: string;
    readonly sync: string;
  };
  /** Secret for the application. */
  readonly app: string;
  /** ConfigMap with the CAs that clients check members with, where the spec names a source. */
  readonly serverCa: string;
  /** Service, StatefulSet and ConfigMap of the pooler. */
  readonly pooler: string;
  /** Secret with the password of the pooler's role. */
  readonly poolerLogin: string;
  /** Service and ConfigMap of the exporters. */
  readonly exporter: string;
  /** Secret with the password of the exporters' role. */
  readonly exporterLogin: string;
  /** Secrets with the authorities that the operator makes: of the connections to PostgreSQL, and of those to Patroni. */
  readonly authorities: { readonly sql: string; readonly patroni: string };
  /** Secrets with certificates. */
  readonly certificates: {
    readonly server: string;
    /** The copy that members show, where the spec names a source. */
    readonly shown: string;
    readonly replication: string;
    readonly rewind: string;
    readonly operator: string;
    readonly pooler: string;
    readonly patroni: string;
    readonly patroniOperator: string;
  };
}

export function postgresNames(cluster: string): PostgresNames {
  return {
    members: cluster,
    primary: `${cluster}-primary`,
    replicas: `${cluster}-replicas`,
    account: `${cluster}-postgres`,
    patroni: `${cluster}-patroni`,
    roster: `${cluster}-members`,
    state: {
      config: `${cluster}-config`,
      leader: `${cluster}-leader`,
      failover: `${cluster}-failover`,
      sync: `${cluster}-sync`,
    },
    app: `${cluster}-app`,
    serverCa: `${cluster}-server-ca`,
    pooler: `${cluster}-pooler`,
    poolerLogin: `${cluster}-pooler-login`,
    exporter: `${cluster}-exporter`,
    exporterLogin: `${cluster}-exporter-login`,
    authorities: { sql: `${cluster}-ca`, patroni: `${cluster}-patroni-ca` },
    certificates: {
      server: `${cluster}-server-tls`,
      shown: `${cluster}-shown-tls`,
      replication: `${cluster}-replication-tls`,
      rewind: `${cluster}-rewind-tls`,
      operator: `${cluster}-operator-tls`,
      pooler: `${cluster}-pooler-tls`,
      patroni: `${cluster}-patroni-tls`,
      patroniOperator: `${cluster}-patroni-operator-tls`,
    },
  };
}

/** In the order in which they are made. */
export function stateNames(cluster: string): readonly string[] {
  const { config, leader, failover, sync } = postgresNames(cluster).state;
  return [config, leader, failover, sync];
}

/** Name of the member's StatefulSet. */
export function memberName(cluster: string, index: number): string {
  return `${cluster}-${index}`;
}

/** Name of the StatefulSet of the member's exporter. */
export function exporterName(cluster: string, index: number): string {
  return `${postgresNames(cluster).exporter}-${index}`;
}

/** Also the member's name in Patroni. */
export function podName(cluster: string, index: number): string {
  return `${memberName(cluster, index)}-0`;
}

export const claimTemplate = 'data';

export function claimName(cluster: string, index: number): string {
  return `${claimTemplate}-${podName(cluster, index)}`;
}

/** Of the volume that has the log alone. */
export const walClaimTemplate = 'wal';

export function walClaimName(cluster: string, index: number): string {
  return `${walClaimTemplate}-${podName(cluster, index)}`;
}

/** The number in the label that everything of a member carries. */
export function indexInName(cluster: string, name: string | undefined): number | undefined {
  const index = Number(/-(\d+)$/.exec(name ?? '')?.[1] ?? Number.NaN);
  return Number.isInteger(index) && name === memberName(cluster, index) ? index : undefined;
}

/** The number in the name of a member's pod. Its labels anybody may have changed. */
export function indexInPodName(cluster: string, name: string): number | undefined {
  const index = Number(/-(\d+)-0$/.exec(name)?.[1] ?? Number.NaN);
  return Number.isInteger(index) && name === podName(cluster, index) ? index : undefined;
}

/** In the comment of a database or a role: the resource that it was created for. Without it, the operator drops nothing. */
export function contentMark(kind: string, resource: string): string {
  return `[clusterwright ${kind}/${resource}]`;
}

/** Finds the name of the resource in a comment. */
export function contentMarkPattern(kind: string): string {
  return `\\[clusterwright ${kind}/([a-z0-9-]+)\\]`;
}

/** Name of a database until it is marked as ours. */
export function begunDatabase(uid: string | undefined): string {
  return `clusterwright-${uid ?? 'offline'}`;
}

/** Databases that a logical import fills, each for one attempt. No PostgresDatabase may have such a name. */
export const stagingPrefix = 'clusterwright-import-';

/** The one that a Job fills. */
export function stagingName(jobUid: string | undefined): string {
  return `${stagingPrefix}${jobUid ?? ''}`;
}

/** Begins the comment of such a database once the copy is whole. What follows says how much was copied. */
export const copiedMark = '[clusterwright copied]';

/** In the comment of the first database's owner, who cannot change it: `init.sql` has run in the database, or the copy has become it. */
export const filledMark = '[clusterwright filled]';

/** Job of a logical import. */
export function dumpJobName(cluster: string): string {
  return `${cluster}-import`;
}

/** On that Job: the version whose programs it runs. */
export const copyAnnotation = 'clusterwright.dev/copy-with';

/** Secret with the connection details of a PostgresUser. */
export function loginSecret(resource: string): string {
  return `${resource}-login`;
}

/** A PostgresUser of this name would share its Secret with the pooler or the exporters of a cluster. */
export function sharesLoginSecret(resource: string): boolean {
  const [pooler, exporter] = [postgresNames('').poolerLogin, postgresNames('').exporterLogin];
  return [pooler, exporter].some((suffix) => loginSecret(resource).endsWith(suffix));
}

/** On a PostgresUser or a PostgresCluster, with any text. A new text tells the operator that a Secret with a password has changed. */
export const passwordChangedAnnotation = 'clusterwright.dev/password-changed';

/** In the comment of the first database: `init.sql` has just run. Its owner may change it. */
export const initMark = '[clusterwright init]';

/** ConfigMap and Job of `init.sql`. `digest`: of what it says, so that a corrected text gets another Job. */
export function initName(cluster: string, digest: string): string {
  return `${cluster}-init-${digest}`;
}
