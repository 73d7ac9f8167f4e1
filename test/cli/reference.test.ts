import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { reference } from '../../src/cli/reference.ts';
import { world } from './world.ts';

it.each(['RedisCluster', 'redisclusters', 'rdc', 'rdc.clusterwright.dev'])('prints the page of %s', async (kind) => {
  const cli = world();
  expect(await reference({ kind }, cli)).toBe(0);
  const committed = readFileSync('docs/reference/redis-cluster.md', 'utf8');
  expect(cli.printed.out).toBe(committed.replace('npm run generate', 'clusterwright reference RedisCluster'));
});

it('names the kinds that there are', async () => {
  await expect(reference({ kind: 'KafkaCluster' }, world())).rejects.toThrow(
    'no kind is called KafkaCluster; there are: RedisCluster, EtcdCluster, PostgresCluster, Backup, BackupSchedule',
  );
});
