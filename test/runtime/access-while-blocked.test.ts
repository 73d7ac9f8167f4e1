/** ADR 41: "Only a cluster whose names belong to somebody else gets none." Members run in all of these situations. */
import { expect, it } from 'vitest';
import type { Cluster, CommonSpec } from '../../src/api/cluster.ts';
import { accessOf } from '../../src/engine/access-of.ts';
import type { EtcdSpecInput } from '../../src/engines/etcd/kind/schema.ts';
import { observeCertificates } from '../../src/engines/etcd/observe/certificates.ts';
import { situationOf as etcdSituationOf } from '../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../src/engines/etcd/plan/plan.ts';
import { firstAuthorities } from '../../src/engines/etcd/resources/authorities.ts';
import { situationOf as postgresSituationOf } from '../../src/engines/postgres/observe/situation.ts';
import { planPostgres } from '../../src/engines/postgres/plan/plan.ts';
import { accessChildren } from '../../src/plan/access.ts';
import { passPlan } from '../../src/plan/pass.ts';
import { blocked, type Plan } from '../../src/plan/plan.ts';
import { type Children, childrenOf } from '../../src/resources/children.ts';
import * as etcd from '../support/etcd-situation.ts';
import { takesEtcdBackup } from '../support/etcd-words.ts';
import { handlers } from '../support/handlers.ts';
import { issuedSecrets } from '../support/issued-secrets.ts';
import * as postgres from '../support/postgres-situation.ts';
import { reconcilerRig } from '../support/reconciler-rig.ts';
import { scriptedEtcd } from '../support/scripted-etcd.ts';
import { testChild } from '../support/test-engine.ts';

const networkPolicy = { clients: [] };
const without = (children: Children): Children =>
  childrenOf(children.objects.filter(({ kind }) => kind !== 'NetworkPolicy'));
const told = ({ steps, outcome }: Plan): string =>
  `${'reason' in outcome ? outcome.reason : outcome.state}: ${steps.some((step) => step.type === 'create' && step.object.kind === 'NetworkPolicy') ? 'policy' : 'no policy'}`;

const passOf = (cluster: Cluster, children: Children, plan: Plan): Plan => {
  const handler = handlers.find(({ kind }) => kind.resource.kind === cluster.kind);
  if (handler === undefined) throw new Error(`no kind ${cluster.kind}`);
  const facts = { resource: handler.kind.resource, children, access: accessOf(handler, cluster) };
  return passPlan(cluster as Cluster<CommonSpec>, facts, plan);
};
const passOfEtcd = ({ cluster, children, observed }: ReturnType<typeof etcd.etcdWorld>): Plan => {
  const left = without(children);
  return passOf(cluster, left, planEtcd(etcdSituationOf(cluster, left, observed), takesEtcdBackup));
};
const planOfPostgres = (story: postgres.Story): Plan => {
  const { cluster, children, observed } = postgres.postgresWorld({ ...story, spec: { networkPolicy } });
  expect(children.pods.filter(({ status }) => status?.phase === 'Running').length).toBeGreaterThan(1);
  const left = without(children);
  return passOf(
    cluster,
    left,
    planPostgres(postgresSituationOf(cluster, left, observed), () => undefined),
  );
};
const planOfEtcd = (story: etcd.Story): Plan => {
  const world = etcd.etcdWorld({ ...story, spec: { networkPolicy } });
  expect(world.children.pods.filter(({ status }) => status?.phase === 'Running').length).toBeGreaterThan(1);
  return passOfEtcd(world);
};

it('PostgreSQL whose members run: the policy that somebody has deleted is made again', () => {
  expect(told(planOfPostgres({}))).toMatch(/: policy$/);
});
it('also where ConfigMaps of Patroni are gone, and the standbys still answer reads', () => {
  expect(told(planOfPostgres({ missing: ['config', 'sync'], primary: 'nobody', leader: 'nobody' }))).toBe(
    'StateLost: policy',
  );
});
it('also where one volume is of another database', () => {
  expect(told(planOfPostgres({ claims: { 2: 'foreign' } }))).toBe('ForeignData: policy');
});
it('etcd whose members run: the policy that somebody has deleted is made again', () => {
  expect(told(planOfEtcd({}))).toMatch(/: policy$/);
});
it('also where one volume is of another cluster', () => {
  expect(told(planOfEtcd({ claims: { 2: 'foreign' } }))).toBe('ForeignCluster: policy');
});
it('also where certificates are lost, and the members go on as they are', async () => {
  const spec: EtcdSpecInput = { tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } }, networkPolicy };
  const { 'db-peer-ca': _ca, 'db-peer-tls': _leaf, ...secrets } = issuedSecrets(etcd.etcdCluster(spec), etcd.now);
  const { io } = scriptedEtcd({ members: [], at: etcd.now }, undefined, secrets);
  const seen = await observeCertificates(etcd.etcdCluster(spec), io);
  const authorities = firstAuthorities(etcd.etcdCluster(spec)) ?? '';
  expect(told(passOfEtcd(etcd.etcdWorld({ spec, authorities, observed: seen })))).toBe('CertificatesLost: policy');
});

it('a controller makes it for an engine that does not plan it, and tells of a refusal beside what it waits for', async () => {
  const rig = await reconcilerRig();
  const { metadata } = testChild(rig.cluster(), 'ConfigMap');
  const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec: {} };
  rig.engine.resources = () => accessChildren([policy]);
  rig.finds([], blocked('DataLost', 'a person has to decide'));
  const body = JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'no' });
  rig.api.intercept = ({ method, path }) =>
    method === 'POST' && path.includes('/networkpolicies')
      ? Promise.resolve({ status: 403, headers: {}, body })
      : undefined;
  expect((await rig.pass()).again).toBe(1_000);
  expect(rig.condition('Stalled')).toBe('True DataLost: a person has to decide');
  expect(rig.condition('AccessRefused')).toMatch(/^True Refused: create NetworkPolicy db: .*403/);
  rig.api.intercept = () => undefined;
  await rig.clock.advance(1_000);
  await rig.pass();
  expect(rig.api.get('NetworkPolicy', 'db')).toBeDefined();
  expect(rig.condition('AccessRefused')).toBe('absent');
  rig.stop();
});
