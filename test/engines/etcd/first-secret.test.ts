/**
 * Secrets are not watched, and one that is missing beside other children is taken for lost. So the Secrets of a new cluster come before all that would
 * tell that it is not new: its creation may end behind any step.
 */
import { expect, it } from 'vitest';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { etcdCluster, now } from '../../support/etcd-situation.ts';
import { takesEtcdBackup } from '../../support/etcd-words.ts';

const issuer = { issuerRef: { name: 'ca' } };
const spec: EtcdSpecInput = {
  auth: { enabled: true },
  tls: { client: { certManager: issuer }, peer: { certManager: issuer } },
};
const cluster = etcdCluster(spec);

it('the Secret with the password of root comes before the Certificates', () => {
  const observed = { members: [], at: now, awaited: ['db-client-tls', 'db-peer-tls'] } as never;
  const { steps } = planEtcd(situationOf(cluster, noChildren, observed), takesEtcdBackup);
  const created = steps.flatMap((step) => (step.type === 'create' ? [step.object.kind] : []));
  expect(created).toContain('Secret');
  expect(created).toContain('Certificate');
  expect(created.lastIndexOf('Secret')).toBeLessThan(created.indexOf('Certificate'));
});
