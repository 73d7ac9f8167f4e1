/** Certificates of an etcd cluster: what is asked of cert-manager, what the operator makes itself, and when. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { etcd } from '../../../src/engines/etcd/index.ts';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { authoritiesAnnotation } from '../../../src/engines/etcd/names.ts';
import { observeCertificates } from '../../../src/engines/etcd/observe/certificates.ts';
import type { EtcdObserved } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { firstAuthorities } from '../../../src/engines/etcd/resources/authorities.ts';
import { settled } from '../../../src/plan/plan.ts';
import { noChildren } from '../../../src/resources/children.ts';
import { etcdCluster, etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { planned, takesEtcdBackup, words } from '../../support/etcd-words.ts';
import { copiedSecrets, issuedSecrets, madeCa, type Secrets } from '../../support/issued-secrets.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

const dayMs = 86_400_000;
const issuerRef = { name: 'ours', kind: 'ClusterIssuer' };
const ours: EtcdSpecInput = { tls: { client: { selfManaged: {} }, peer: { selfManaged: {} } } };
const theirs: EtcdSpecInput = {
  tls: { client: { certManager: { issuerRef } }, peer: { certManager: { issuerRef, renewBefore: '24h' } } },
};

const made = (spec: EtcdSpecInput, at = now): Secrets => issuedSecrets(etcdCluster(spec), at);

/** What a look at these Secrets finds. */
async function lookAt(spec: EtcdSpecInput, secrets: Secrets): Promise<Partial<EtcdObserved>> {
  const { io } = scriptedEtcd({ members: [], at: now }, undefined, secrets);
  return observeCertificates(etcdCluster(spec), io);
}

/** A cluster that runs with certificates that the operator looks after, and what is planned for it. */
async function whole(secrets: Secrets, story: Story = {}): Promise<string[]> {
  const authorities = firstAuthorities(etcdCluster(ours));
  if (authorities === undefined) throw new Error('they are known beforehand');
  return planned({
    spec: ours,
    authorities,
    ...story,
    observed: { ...(await lookAt(ours, secrets)), ...story.observed },
  });
}

const without = (secrets: Secrets, ...names: readonly string[]): Secrets =>
  Object.fromEntries(Object.entries(secrets).filter(([name]) => !names.includes(name)));

describe('children', () => {
  const certificates = (spec: EtcdSpecInput): readonly KubeObject[] =>
    etcd
      .resources(etcdCluster(spec))
      .map(({ object }) => object)
      .filter(({ kind, metadata }) => kind === 'Certificate' || (kind === 'Secret' && metadata.name !== 'db-root'));

  it('of cert-manager are asked for by Certificates', () => {
    expect(
      certificates(theirs).map(({ apiVersion, kind, metadata: { name }, spec }) => ({ apiVersion, kind, name, spec })),
    ).toMatchInlineSnapshot(`
      [
        {
          "apiVersion": "v1",
          "kind": "Secret",
          "name": "db-client-tls",
          "spec": undefined,
        },
        {
          "apiVersion": "v1",
          "kind": "Secret",
          "name": "db-peer-tls",
          "spec": undefined,
        },
        {
          "apiVersion": "cert-manager.io/v1",
          "kind": "Certificate",
          "name": "db-client-tls",
          "spec": {
            "dnsNames": [
              "*.db.apps.svc",
              "db-client.apps.svc",
              "db-client.apps",
              "db-client",
              "localhost",
            ],
            "duration": "2160h0m0s",
            "issuerRef": {
              "group": "cert-manager.io",
              "kind": "ClusterIssuer",
              "name": "ours",
            },
            "privateKey": {
              "algorithm": "ECDSA",
              "rotationPolicy": "Always",
              "size": 256,
            },
            "secretName": "db-client-issued",
            "subject": {
              "organizations": [
                "db",
              ],
            },
            "usages": [
              "digital signature",
              "server auth",
              "client auth",
            ],
          },
        },
        {
          "apiVersion": "cert-manager.io/v1",
          "kind": "Certificate",
          "name": "db-peer-tls",
          "spec": {
            "dnsNames": [
              "*.db.apps.svc",
            ],
            "duration": "2160h0m0s",
            "issuerRef": {
              "group": "cert-manager.io",
              "kind": "ClusterIssuer",
              "name": "ours",
            },
            "privateKey": {
              "algorithm": "ECDSA",
              "rotationPolicy": "Always",
              "size": 256,
            },
            "renewBefore": "24h0m0s",
            "secretName": "db-peer-issued",
            "subject": {
              "organizations": [
                "db",
              ],
            },
            "usages": [
              "digital signature",
              "server auth",
              "client auth",
            ],
          },
        },
      ]
    `);
  });

  it('of the operator are Secrets without values', () => {
    const found = certificates(ours);
    expect(found.map(({ metadata }) => metadata.name)).toEqual([
      'db-client-ca',
      'db-client-tls',
      'db-client-user',
      'db-peer-ca',
      'db-peer-tls',
    ]);
    for (const secret of found) expect(Object.keys(secret)).toEqual(['apiVersion', 'kind', 'metadata', 'type']);
  });

  it.each([
    ['cert-manager', theirs],
    ['the operator', ours],
  ])('mount what %s makes, each at its place', (_, spec) => {
    const [set] = etcd.resources(etcdCluster(spec)).filter(({ object }) => object.kind === 'StatefulSet');
    type Template = {
      readonly spec: { readonly volumes: unknown; readonly containers: [{ readonly volumeMounts: unknown[] }] };
    };
    const { template } = (set?.object.spec ?? {}) as { readonly template?: Template };
    const { volumes, containers = [{ volumeMounts: [] }] } = template?.spec ?? {};
    expect(volumes).toEqual([
      { name: 'client-tls', secret: { secretName: 'db-client-tls' } },
      { name: 'peer-tls', secret: { secretName: 'db-peer-tls' } },
    ]);
    expect(containers[0].volumeMounts.slice(1)).toEqual([
      { name: 'client-tls', mountPath: '/etc/etcd/tls/client', readOnly: true },
      { name: 'peer-tls', mountPath: '/etc/etcd/tls/peer', readOnly: true },
    ]);
  });
});

describe('a new cluster', () => {
  const create = (spec: EtcdSpecInput, observed: EtcdObserved): string[] =>
    words(planEtcd(situationOf(etcdCluster(spec), noChildren, observed), takesEtcdBackup));

  it('with its own certificates is made in one go, its members last', async () => {
    const steps = create(ours, { members: [], at: now, ...(await lookAt(ours, {})) });
    expect(steps).toEqual([
      'issue db-client-ca: authority',
      'issue db-client-tls: leaf',
      'issue db-client-user: leaf',
      'issue db-peer-ca: authority',
      'issue db-peer-tls: leaf',
      'create Secret db-root',
      'create ConfigMap db-members',
      'create Service db',
      'create Service db-client',
      'create PodDisruptionBudget db',
      ...[0, 1, 2].map((i) => `create StatefulSet db-${i}`),
      'wait Forming',
    ]);
  });

  it('tells its members from the start whom they trust: when it is made nobody restarts', async () => {
    const offline = etcd.resources(etcdCluster(ours)).filter(({ object }) => object.kind === 'StatefulSet');
    const { authorities } = await lookAt(ours, made(ours));
    for (const { object } of offline) {
      const { template } = object.spec as { template: { metadata: { annotations: Record<string, string> } } };
      expect(template.metadata.annotations[authoritiesAnnotation]).toBe(authorities);
    }
  });

  it('with those of cert-manager starts nobody before they are there', async () => {
    const steps = create(theirs, { members: [], at: now, ...(await lookAt(theirs, {})) });
    const made = ['create Certificate db-client-tls', 'create Certificate db-peer-tls'];
    expect(steps.slice(0, 6)).toEqual([
      ...[
        'create Secret db-root',
        'create ConfigMap db-members',
        'create Service db',
        'create Service db-client',
        ...made,
      ],
    ]);
    expect(steps.filter((step) => step.includes('StatefulSet'))).toEqual([]);
    expect(steps.at(-1)).toBe('wait AwaitingCertificates');
    const secrets = copiedSecrets(etcdCluster(theirs), now);
    const written = without(secrets, 'db-client-tls', 'db-peer-tls');
    const copying = create(theirs, { members: [], at: now, ...(await lookAt(theirs, written)) });
    expect([copying.slice(0, 2), copying.filter((step) => step.includes('StatefulSet'))]).toEqual([
      ['issue db-client-tls: copy all', 'issue db-peer-tls: copy all'],
      [],
    ]);
    const then = await lookAt(theirs, secrets);
    expect(
      create(theirs, { members: [], at: now, ...then }).filter((step) => step.includes('StatefulSet')).length,
    ).toBe(3);
  });

  it('starts nobody with a certificate that its own CA has not signed, and says so', async () => {
    const secrets = copiedSecrets(etcdCluster(theirs), now);
    const foreign = { ...secrets['db-peer-issued'], 'ca.crt': madeCa('another', now).certificate };
    const seen = await lookAt(theirs, { ...without(secrets, 'db-peer-tls'), 'db-peer-issued': foreign });
    const { outcome } = planEtcd(
      situationOf(etcdCluster(theirs), noChildren, { members: [], at: now, ...seen }),
      takesEtcdBackup,
    );
    expect(outcome).toMatchObject({
      reason: 'AwaitingCertificates',
      message: 'Secret db-peer-issued has a ca.crt that has not signed its tls.crt',
    });
  });

  it('tells what cert-manager says of a certificate that does not come', () => {
    const { cluster, children, observed } = etcdWorld({
      spec: theirs,
      observed: { awaited: ['db-peer-tls'] },
      children: (objects) =>
        objects.map((object) =>
          object.kind === 'Certificate'
            ? {
                ...object,
                status: { conditions: [{ type: 'Ready', status: 'False', message: 'the issuer is not ready' }] },
              }
            : object,
        ),
    });
    const { outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    expect(outcome).toMatchObject({
      state: 'wait',
      message: 'cert-manager has yet to write Secret db-peer-issued (the issuer is not ready)',
    });
  });
});

describe('a cluster that runs', () => {
  it('and whose certificates are in order is left alone', async () => {
    expect(await whole(made(ours))).toEqual(['settled']);
  });

  it('renews those that have passed two thirds of their life; nobody restarts', async () => {
    expect(await whole(made(ours, now - 59 * dayMs))).toEqual(['settled']);
    expect(await whole(made(ours, now - 61 * dayMs))).toEqual([
      'issue db-client-tls: leaf',
      'issue db-client-user: leaf',
      'issue db-peer-tls: leaf',
      'settled',
    ]);
  });

  it('renews them whatever else keeps it busy', async () => {
    const steps = await whole(made(ours, now - 61 * dayMs), { members: { all: 'silent' }, leader: 'nobody' });
    expect([steps.slice(0, 3), steps.at(-1)]).toEqual([
      ['issue db-client-tls: leaf', 'issue db-client-user: leaf', 'issue db-peer-tls: leaf'],
      'wait QuorumLost',
    ]);
  });

  it('renews them where a volume is of another cluster', async () => {
    expect(await whole(made(ours, now - 61 * dayMs), { claims: { 2: 'foreign' } })).toEqual([
      'issue db-client-tls: leaf',
      'issue db-client-user: leaf',
      'issue db-peer-tls: leaf',
      'blocked ForeignCluster',
    ]);
  });

  it.each<[string, readonly string[], string]>([
    ['goes on without, while it has the Secret', ['db-peer-issued'], 'try create Certificate db-peer-tls'],
    [
      'says that it cannot, where it waits for the Secret',
      ['db-peer-issued', 'db-peer-tls'],
      'create Certificate db-peer-tls',
    ],
  ])('where nobody knows a Certificate any more %s', async (_, gone, step) => {
    const spec: EtcdSpecInput = { tls: { peer: { certManager: { issuerRef } } } };
    const children = (objects: readonly KubeObject[]) => objects.filter(({ kind }) => kind !== 'Certificate');
    const secrets = without(copiedSecrets(etcdCluster(spec), now), ...gone);
    expect(planned({ spec, children, observed: await lookAt(spec, secrets) })[0]).toBe(step);
  });

  it('makes one again that is gone, and waits for it before it asks anybody', async () => {
    const credentialsProblem = 'Secret db-client-tls with the keys ca.crt, tls.crt and tls.key does not exist';
    const steps = await whole(without(made(ours), 'db-client-tls'), { observed: { credentialsProblem } });
    expect(steps).toEqual(['issue db-client-tls: leaf', 'wait IssuingCertificates']);
  });

  it('has a successor for an authority that is gone', async () => {
    expect(await whole(without(made(ours), 'db-peer-ca'))).toEqual(['issue db-peer-ca: authority-again', 'settled']);
  });

  it('is blocked where nothing is left of whom its members trust, and goes on with the rest', async () => {
    const rest = without(made(ours, now - 61 * dayMs), 'db-peer-ca', 'db-peer-tls');
    expect(await whole(rest)).toEqual([
      'issue db-client-tls: leaf',
      'issue db-client-user: leaf',
      'blocked CertificatesLost',
    ]);
  });

  it('is blocked where an authority is not the one that they trust, and has no key of its own', async () => {
    const foreign = made(ours)['db-peer-ca']?.['tls.crt'] ?? '';
    const secrets = made(ours);
    secrets['db-peer-ca'] = { ...secrets['db-peer-ca'], 'tls.crt': foreign };
    const { cluster, children, observed } = etcdWorld({ spec: ours, observed: await lookAt(ours, secrets) });
    const { steps, outcome } = planEtcd(situationOf(cluster, children, observed), takesEtcdBackup);
    expect(steps).toEqual([]);
    expect(outcome).toMatchObject({
      reason: 'CertificatesLost',
      message: expect.stringMatching(/^Secret db-peer-ca holds an authority that the members do not trust/),
    });
  });

  it('restarts its members for another authority, one at a time', async () => {
    const secrets = made(ours);
    secrets['db-peer-tls'] = { ...secrets['db-peer-tls'], generation: '2' };
    secrets['db-peer-ca'] = { ...secrets['db-peer-ca'], generation: '2' };
    const annotation = 'spec.template.metadata.annotations[clusterwright.dev/authorities]';
    expect(await whole(secrets)).toEqual([
      ...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${annotation}`),
      'settled',
    ]);
  });

  describe('and is to trust only the next authority', () => {
    const next = (): Secrets => {
      const secrets = made(ours);
      secrets['db-peer-ca'] = { ...secrets['db-peer-ca'], 'previous.crt': secrets['db-peer-ca']?.['tls.crt'] ?? '' };
      return secrets;
    };
    it.each<[string, Story, string[]]>([
      ['drops the one before', {}, ['issue db-peer-ca: retirement', 'settled']],
      ['waits for a member that is away', { members: { 1: 'silent' } }, ['wait MembersNotReady']],
      ['waits for one that has yet to restart', { pods: { 1: 'outdated' } }, ['delete Pod db-1-0', 'wait Restarting']],
    ])('%s', async (_, story, plan) => expect(await whole(next(), story)).toEqual(plan));
  });
});

describe('clients have time to follow to the next authority', () => {
  const alone: EtcdSpecInput = { replicas: 1, tls: { client: { selfManaged: {} } } };
  const secrets = made(alone);
  const { 'tls.crt': authority = '' } = secrets['db-client-ca'] ?? {};
  secrets['db-client-ca'] = {
    ...secrets['db-client-ca'],
    'previous.crt': authority,
    changed: new Date(now).toISOString(),
  };
  it.each<[string, Story, string[]]>([
    ['while the member runs', {}, ['settled']],
    ['while its pod is made anew', { members: { 0: 'gone' }, leader: 'nobody' }, ['wait QuorumLost']],
    [
      'and need none once it is parked',
      {
        spec: { ...alone, replicas: 0 },
        before: alone,
        numbers: [0],
        members: { 0: 'gone' },
        leader: 'nobody',
        children: (objects) =>
          objects.map((object) =>
            object.kind === 'StatefulSet' ? { ...object, spec: { ...(object.spec as object), replicas: 0 } } : object,
          ),
      },
      ['issue db-client-ca: retirement', 'settled'],
    ],
  ])('%s', async (_, story, plan) => {
    const authorities = firstAuthorities(etcdCluster(alone)) ?? '';
    const found = planned({ spec: alone, authorities, ...story, observed: await lookAt(alone, secrets) });
    expect(found.filter((line) => !line.startsWith('apply'))).toEqual(plan);
  });
});

describe('where the rest of the spec is not valid, or the end of the cluster is near', () => {
  async function kept(spec: EtcdSpecInput, secrets: Secrets): Promise<string[]> {
    const { io } = scriptedEtcd({ members: [], at: now }, undefined, secrets);
    const steps = (await etcd.maintenance?.plan(etcdCluster(spec), io, noChildren)) ?? [];
    return words({ steps: steps.flatMap((step) => (step.type === 'act' ? [] : step)), outcome: settled }).slice(0, -1);
  }
  const old = made(ours, now - 61 * dayMs);

  it.each<[story: string, spec: EtcdSpecInput, secrets: Secrets, steps: string[]]>([
    ['what is due is renewed', ours, old, ['client-tls: leaf', 'client-user: leaf', 'peer-tls: leaf']],
    ['what is not due is left alone', ours, made(ours), []],
    ['what is gone is made again', ours, without(made(ours), 'db-client-user'), ['client-user: leaf']],
    ['nothing is founded: nobody was asked who runs', ours, {}, []],
    ['what others make is theirs', theirs, {}, []],
    ['there may be no TLS', {}, {}, []],
  ])('%s', async (_, spec, secrets, steps) => {
    expect(await kept(spec, secrets)).toEqual(steps.map((step) => `issue db-${step}`));
  });

  it('no step towards another authority is taken that others have to have followed', async () => {
    const secrets = made(ours);
    secrets['db-peer-ca'] = { ...secrets['db-peer-ca'], 'previous.crt': secrets['db-peer-ca']?.['tls.crt'] ?? '' };
    expect(await kept(ours, secrets)).toEqual([]);
  });
});
