import { describe, expect, it } from 'vitest';
import { etcdBackup } from '../../../src/engines/etcd/backup/support.ts';
import { etcdWorld } from '../../support/etcd-situation.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';
import { settle } from '../../support/scripted-redis.ts';

describe('the contents of a restored cluster', () => {
  it('are waited for as long as a member takes to look at its whole database', async () => {
    const { cluster, children, observed } = etcdWorld({ spec: { replicas: 1 } });
    const network = scriptedEtcd(observed, ({ path }) => (path.endsWith('/hashkv') ? 'hang' : undefined));
    const result = await settle(network.clock, etcdBackup.contents(cluster, children, network.io, { revision: '7' }));
    expect(result).toMatchObject({
      reason: { message: '10.0.0.0 (maintenance/hashkv) did not answer within 50000 ms' },
    });
  });
});
