/** A cluster whose spec is refused since an upgrade keeps the names in its certificates: clients outside connect by them. */
import { expect, it } from 'vitest';
import { etcd } from '../../../src/engines/etcd/index.ts';
import { type EtcdSpecInput, etcdKind } from '../../../src/engines/etcd/kind/schema.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { maintenanceSpec } from '../../../src/runtime/partial-spec.ts';
import { etcdCluster, now } from '../../support/etcd-situation.ts';
import { issuedSecrets } from '../../support/issued-secrets.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

const named: EtcdSpecInput = {
  tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } },
  access: { names: ['etcd.example.com'] },
};

async function steps(more: object): Promise<unknown> {
  const cluster = etcdCluster(named);
  const { maintenance } = etcd;
  if (maintenance === undefined) throw new Error('etcd has one');
  const stored = { ...cluster, spec: { ...named, ...more } };
  const legible = maintenanceSpec({ kind: etcdKind, maintenance } as never, stored as never);
  const { io } = scriptedEtcd({ members: [], at: now }, undefined, issuedSecrets(cluster, now));
  return maintenance.plan(legible as never, io, noChildren);
}

it.each([
  // Earlier versions accepted it.
  { networkPolicy: { clients: [{ namespaceSelector: {} }] } },
  { replicas: 2 },
])('with %j, fresh certificates are not issued again', async (more) => {
  expect(await steps(more)).toEqual([]);
});
