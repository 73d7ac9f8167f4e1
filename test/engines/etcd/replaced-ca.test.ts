/** Certificates that others make: cert-manager, or somebody who brings a Secret, and what happens when their CA changes. */

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import { etcd } from '../../../src/engines/etcd/index.ts';
import type { EtcdSpecInput } from '../../../src/engines/etcd/kind/schema.ts';
import { observeCertificates } from '../../../src/engines/etcd/observe/certificates.ts';
import type { EtcdObserved } from '../../../src/engines/etcd/observe/observed.ts';
import { situationOf } from '../../../src/engines/etcd/observe/situation.ts';
import { planEtcd } from '../../../src/engines/etcd/plan/plan.ts';
import { casIn } from '../../../src/engines/etcd/plan/replaced-ca.ts';
import { stored } from '../../../src/testing/stored-object.ts';
import { etcdCluster, etcdWorld, now, type Story } from '../../support/etcd-situation.ts';
import { planned, takesEtcdBackup, words } from '../../support/etcd-words.ts';
import { copiedSecrets, madeBy, madeCa, type Secrets } from '../../support/issued-secrets.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

const issuerRef = { name: 'theirs', kind: 'ClusterIssuer' };

/** What a look at these Secrets finds. */
async function lookAt(spec: EtcdSpecInput, secrets: Secrets): Promise<Partial<EtcdObserved>> {
  const { io } = scriptedEtcd({ members: [], at: now }, undefined, secrets);
  return observeCertificates(etcdCluster(spec), io);
}

const without = (secrets: Secrets, ...names: readonly string[]): Secrets =>
  Object.fromEntries(Object.entries(secrets).filter(([name]) => !names.includes(name)));

describe('with certificates of cert-manager', () => {
  const spec: EtcdSpecInput = { tls: { peer: { certManager: { issuerRef } } } };
  const names = ['*.db.apps.svc'];
  /** Its members have started with these Secrets. */
  async function run(before: Secrets, secrets: Secrets, story: Story = {}): Promise<string[]> {
    const { authorities = '' } = await lookAt(spec, before);
    return planned({
      spec,
      authorities,
      ...story,
      observed: { ...(await lookAt(spec, secrets)), ...story.observed },
    });
  }
  const before = copiedSecrets(etcdCluster(spec), now);
  const next = { ...before, 'db-peer-issued': madeBy(madeCa('next', now), names, now) };
  const annotation = 'spec.template.metadata.annotations[clusterwright.dev/authorities]';

  it('is left alone when an operator of before has let cert-manager write what the members mount', async () => {
    const left = without(before, 'db-peer-issued');
    expect(await run(before, left)).toEqual(['settled']);
    const children = (objects: readonly KubeObject[]) =>
      objects.map((object) =>
        object.kind === 'Certificate'
          ? { ...object, spec: { ...(object.spec as object), secretName: 'db-peer-tls' } }
          : object,
      );
    expect(await run(before, left, { children })).toEqual([
      'try apply Certificate db-peer-tls: spec.secretName',
      'settled',
    ]);
  });

  it('trusts another CA first, and restarts its members for it', async () => {
    expect(await run(before, next)).toEqual(['issue db-peer-tls: copy next-ca', 'settled']);
    const both = `${before['db-peer-tls']?.['ca.crt']}${next['db-peer-issued']?.['ca.crt']}`;
    const copy = { ...before['db-peer-tls'], 'ca.crt': both, changed: new Date(now).toISOString() };
    const then = { ...next, 'db-peer-tls': copy };
    expect(await run(before, then)).toEqual([
      ...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${annotation}`),
      'settled',
    ]);
    expect(await run(then, then)).toEqual(['issue db-peer-tls: copy certificate', 'settled']);
    expect(await run(then, then, { members: { 1: 'silent' } })).toEqual(['wait MembersNotReady']);
    expect(await run(then, then, { pods: { 1: 'outdated' } })).toEqual(['delete Pod db-1-0', 'wait Restarting']);
    const unwritten = { spec, observed: await lookAt(spec, then) };
    // Rendered beforehand, without a word of whom they trust: from now on it has to be known.
    const written = 'spec.template.metadata.annotations';
    expect(planned(unwritten).slice(0, 3)).toEqual([0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${written}`));
  });

  it('makes a copy again that is gone, where its members trust the CA of the source', async () => {
    expect((await run(before, without(before, 'db-peer-tls')))[0]).toBe('issue db-peer-tls: copy all');
    expect(await run(before, without(next, 'db-peer-tls'))).toEqual(['blocked CertificatesLost']);
  });

  it('is left alone where it was rendered beforehand, without a word of whom its members trust', async () => {
    expect(planned({ spec, observed: await lookAt(spec, before) })).toEqual(['settled']);
  });

  it('does not take its pods being away for a moment for nobody there', async () => {
    const gone: Story = { members: { all: 'gone' }, leader: 'nobody' };
    expect((await run(before, next, gone))[0]).toBe('issue db-peer-tls: copy next-ca');
    const both = `${before['db-peer-tls']?.['ca.crt']}${next['db-peer-issued']?.['ca.crt']}`;
    const then = {
      ...next,
      'db-peer-tls': { ...before['db-peer-tls'], 'ca.crt': both, changed: '2030-01-01T00:00:00Z' },
    };
    expect((await run(then, then)).slice(0, 1)).toEqual(['issue db-peer-tls: copy certificate']);
    expect((await run(then, then, gone)).filter((line) => line.startsWith('issue'))).toEqual([]);
  });
});

describe('a Secret that somebody brings', () => {
  const given: EtcdSpecInput = {
    tls: { client: { secretRef: { name: 'mine' } }, peer: { secretRef: { name: 'mine' } } },
  };
  const names = ['*.db.apps.svc'];
  const [a, b] = [madeCa('a', now), madeCa('b', now)];
  const by = (ca: typeof a, ...trusted: readonly (typeof a)[]): Secrets => ({
    mine: { ...madeBy(ca, names, now), 'ca.crt': [ca, ...trusted].map(({ certificate }) => certificate).join('') },
  });

  /** Of a cluster that was made with the first of them, and has been looked at ever since. */
  async function follows(...all: readonly Secrets[]): Promise<string[][]> {
    let children: readonly KubeObject[] | undefined;
    const plans: string[][] = [];
    for (const secrets of all) {
      const observed = await lookAt(given, secrets);
      const { authorities = '' } = observed;
      const before = children;
      const world = etcdWorld({
        spec: given,
        authorities,
        observed,
        ...(before === undefined ? {} : { children: () => before }),
      });
      const situation = situationOf(world.cluster, world.children, world.observed);
      const plan = planEtcd(situation, takesEtcdBackup);
      const { conditions } = etcd.status(situation, plan);
      const held = conditions.find(({ type }) => type === 'CertificateHeldBack');
      plans.push([...words(plan), ...(held === undefined ? [] : [`held ${held.reason}`])]);
      const written = new Map(
        plan.steps.flatMap((step) => (step.type === 'apply' ? [[step.object.metadata.name, step.object]] : [])),
      );
      children = world.children.objects.map((object) => {
        const now = object.kind === 'StatefulSet' ? written.get(object.metadata.name) : undefined;
        return now === undefined ? object : ({ ...stored(now), status: object.status } as KubeObject);
      });
    }
    return plans;
  }
  const record = 'metadata.annotations[clusterwright.dev/trusted-cas]';
  const template = 'spec.template.metadata.annotations[clusterwright.dev/authorities]';
  const sets = (...paths: readonly string[]): string[] => [
    ...[0, 1, 2].map((i) => `apply StatefulSet db-${i}: ${paths.join(', ')}`),
    'settled',
  ];

  it('whose CA was replaced at once restarts nobody, and is told of, until both are in it', async () => {
    expect(await follows(by(a), by(b), by(b), by(a), by(a, b), by(b, a), by(b))).toEqual([
      sets(record),
      ['settled', 'held NotTrusted'],
      ['settled', 'held NotTrusted'],
      ['settled'],
      sets(record, template),
      expect.not.arrayContaining(['held NotTrusted']),
      sets(record, template),
    ]);
  });

  it('whose CA was replaced at once keeps members from restarting for anything else, and from joining', async () => {
    const look = await lookAt(given, by(a));
    const { authorities = '' } = look;
    const cas = casIn(look.given) ?? '';
    const story: Story = { spec: given, authorities, cas, pods: { 1: 'outdated' } };
    const held = { ...story, observed: await lookAt(given, by(b)) };
    expect(planned({ ...story, observed: await lookAt(given, by(a)) })).toEqual([
      'delete Pod db-1-0',
      'wait Restarting',
    ]);
    expect(planned(held)).toEqual(['wait CertificateHeldBack']);
    expect(planned({ ...held, pods: {}, spec: { ...given, replicas: 5 }, before: given })).toEqual([
      'wait CertificateHeldBack',
    ]);
    expect(planned({ ...held, pods: {} })).toEqual(['settled']);
    const onlyClients: EtcdSpecInput = { tls: { client: { secretRef: { name: 'mine' } } } };
    expect(planned({ ...held, spec: onlyClients, observed: await lookAt(onlyClients, by(b)) })).toContain(
      'delete Pod db-1-0',
    );
  });

  it('that has not signed what is shown, as far as can be told, changes nothing', async () => {
    const odd = { mine: { ...by(b).mine, 'ca.crt': a.certificate } };
    expect(await follows(by(a), odd)).toEqual([sets(record), ['settled']]);
  });

  it('is taken by members that start anew: nobody trusts the one before', async () => {
    const { authorities = '' } = await lookAt(given, by(a));
    const gone: Story = { members: { all: 'gone' }, leader: 'nobody' };
    const lines = planned({ spec: given, authorities, ...gone, observed: await lookAt(given, by(b)) });
    expect(lines.slice(0, 3)).toEqual(sets(record, template).slice(0, 3));
  });
});
