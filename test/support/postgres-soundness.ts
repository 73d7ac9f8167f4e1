/**
 * Whether the members of a PostgresCluster hold one history, the same data, and nothing that is damaged: asked with the programs of
 * PostgreSQL itself, while nobody writes.
 */
import type { PostgresTestCluster } from './postgres-test-cluster.ts';
import { until } from './until.ts';

export interface Soundness {
  /** The timelines that members are on; one where all is well. */
  readonly timelines: readonly string[];
  /** Of everything that pg_dumpall writes; one where all hold the same. */
  readonly digests: readonly string[];
  /** What pg_amcheck has found, and pages whose checksum was wrong; empty where all is well. */
  readonly damage: readonly string[];
}

/** A standby writes down its timeline at a checkpoint: what it receives tells sooner. */
const timeline =
  "select coalesce((select received_tli from pg_stat_wal_receiver), ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int)";
const standbyTimeline = 'select received_tli from pg_stat_wal_receiver';

/** The words between which a dump may be restored are new in each dump. */
const digest =
  '"$PGBIN"/pg_dumpall -h /var/run/postgresql -U postgres | grep -v \'^.\\(un\\)\\?restrict \' | sha256sum';
/** Tables and indexes, and whether each row is in its indexes. It reads every page of them, so a wrong checksum is an error. */
const check =
  '"$PGBIN"/pg_amcheck -h /var/run/postgresql -U postgres -d app --no-strict-names --heapallindexed 2>&1 || echo "pg_amcheck ended with $?"';
const checksums = 'select sum(checksum_failures) from pg_stat_database';

/** Installs what `soundnessOf` needs, on the primary: standbys receive it. Can be repeated. */
export async function prepareSoundness(cluster: PostgresTestCluster): Promise<void> {
  await cluster.sql((await cluster.primary()).metadata.name, 'create extension if not exists amcheck');
}

/** `members`: names of pods. Nobody writes meanwhile. */
export async function soundnessOf(cluster: PostgresTestCluster, members: readonly string[]): Promise<Soundness> {
  const primary = (await cluster.primary()).metadata.name;
  const position = await cluster.sql(primary, 'select pg_current_wal_flush_lsn()');
  const each = async (member: string): Promise<{ timeline: string; digest: string; damage: readonly string[] }> => {
    if (member !== primary) await replayed(cluster, member, position);
    const found = await cluster.shell(member, check);
    const failures = await cluster.sql(member, checksums);
    return {
      timeline: await cluster.sql(member, member === primary ? timeline : standbyTimeline),
      digest: await cluster.shell(member, digest),
      damage: [
        ...(found === '' ? [] : [`${member}: ${found}`]),
        ...(failures === '0' ? [] : [`${member}: checksum failures: ${failures}`]),
      ],
    };
  };
  const found = await Promise.all(members.map(each));
  return {
    timelines: [...new Set(found.map((one) => one.timeline))],
    digests: [...new Set(found.map((one) => one.digest))],
    damage: found.flatMap(({ damage }) => damage),
  };
}

async function replayed(cluster: PostgresTestCluster, member: string, position: string): Promise<void> {
  await until(
    `${member} has replayed ${position}`,
    async () => {
      const there = await cluster.sql(member, `select pg_last_wal_replay_lsn() >= '${position}'`);
      if (there !== 't') throw new Error(await cluster.sql(member, 'select pg_last_wal_replay_lsn()'));
    },
    { withinMs: 30_000 },
  );
}
