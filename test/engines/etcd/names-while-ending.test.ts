/** A cluster whose spec is refused, and which is deleted and waits for its last backup, keeps the names in its certificates, too. */
import { expect, it } from 'vitest';
import { etcd } from '../../../src/engines/etcd/index.ts';
import { type EtcdSpecInput, etcdKind } from '../../../src/engines/etcd/kind/schema.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { deletionSpec } from '../../../src/runtime/partial-spec.ts';
import { etcdCluster, now } from '../../support/etcd-situation.ts';
import { issuedSecrets } from '../../support/issued-secrets.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

const named: EtcdSpecInput = {
  tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } },
  access: { names: ['etcd.example.com'] },
  deletionPolicy: 'Snapshot',
  backup: { target: { s3: { endpoint: 'https://s3.example.com', bucket: 'backups', serviceAccountName: 'nobody' } } },
};

it('fresh certificates are not issued again', async () => {
  const cluster = etcdCluster(named);
  const { maintenance } = etcd;
  if (maintenance === undefined) throw new Error('etcd has one');
  const stored = { ...cluster, spec: { ...named, networkPolicy: { clients: [{ namespaceSelector: {} }] } } };
  // As `resolve.ts` reads it, and `finalize.ts` hands it on.
  const ending = deletionSpec(etcdKind, stored as never);
  const { io } = scriptedEtcd({ members: [], at: now }, undefined, issuedSecrets(cluster, now));
  expect(await maintenance.plan(ending as never, io, noChildren)).toEqual([]);
});
