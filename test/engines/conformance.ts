/**
 * What every engine has to keep, whatever it runs. A new engine passes this suite by adding its samples.
 */
import { expect, it } from 'vitest';
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { resourceOf } from '../../src/api/resource.ts';
import type { KindHandler } from '../../src/engine/engine.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { difference, fingerprinted } from '../../src/plan/difference.ts';
import { type Desired, isFilled } from '../../src/plan/objects.ts';
import type { Plan } from '../../src/plan/plan.ts';
import type { Children } from '../../src/resources/children.ts';
import { instanceLabel, managedBy, managedByLabel, nameLabel } from '../../src/resources/metadata.ts';
import { describeStep } from '../../src/runtime/executor.ts';
import { restrictedBreaches } from '../support/pod-security.ts';
import { stored } from '../support/stored-object.ts';
import { truthful } from '../support/truthful-engine.ts';

export interface EngineSample {
  readonly story: string;
  readonly cluster: Cluster;
  /** The children of the cluster and its processes when all is well. */
  readonly whole: { readonly children: Children; readonly io: EngineContext };
  /** Every secret text of the cluster. */
  readonly secrets: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const refs = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);

const objectsOf = (desired: readonly Desired[]): KubeObject[] => desired.map(({ object }) => object);

/** Every label selector of an object that Kubernetes acts upon. */
function selectorsOf({ kind, spec }: KubeObject): Fields[] {
  const { selector } = (spec ?? {}) as { readonly selector?: Fields };
  if (selector === undefined) return [];
  return [kind === 'Service' ? selector : (selector.matchLabels as Fields)];
}

function podTemplateOf({
  spec,
}: KubeObject): { readonly metadata: { readonly labels: Fields }; readonly spec: Fields } | undefined {
  return (spec as { template?: { metadata: { labels: Fields }; spec: Fields } } | undefined)?.template;
}

/** The same cluster with every label, annotation and free text of its own. */
function dressed(cluster: Cluster): Cluster {
  const labels = { 'example.com/team': 'a', [nameLabel]: 'mine', [managedByLabel]: 'me' };
  return { ...cluster, metadata: { ...cluster.metadata, labels, annotations: { note: 'any text' } } };
}

function verbsOn(engine: KindHandler, group: string, plural: string): ReadonlySet<string> {
  return new Set(
    engine.permissions
      .filter((rule) => rule.apiGroups.includes(group) && rule.resources.includes(plural))
      .flatMap(({ verbs }) => verbs),
  );
}

/** What else of a plan could leave the process: its words. */
function wordsOf(plan: Plan): string {
  return [...plan.steps.map(describeStep), JSON.stringify(plan.outcome), JSON.stringify(plan.steps)].join('\n');
}

/** Whatever it says of the samples is looked at for contradictions. */
export function conforms(registered: KindHandler, samples: readonly EngineSample[]): void {
  const engine = truthful(registered);
  it.each(samples)(
    '$story: children are the same each time, and do not depend on what the user calls things',
    ({ cluster }) => {
      const once = JSON.stringify(engine.resources(cluster));
      expect(JSON.stringify(engine.resources(structuredClone(cluster)))).toBe(once);
      expect(JSON.stringify(engine.resources(dressed(cluster)))).toBe(once);
    },
  );

  it.each(samples)(
    '$story: children carry the common labels, the namespace, and an owner unless they hold data',
    ({ cluster }) => {
      const { name, namespace, uid } = cluster.metadata;
      for (const child of engine.resources(cluster)) {
        const { object } = child;
        expect(object.metadata).toMatchObject({
          namespace,
          labels: {
            [nameLabel]: engine.name,
            [instanceLabel]: name,
            [managedByLabel]: managedBy,
            'app.kubernetes.io/part-of': name,
            'app.kubernetes.io/component': expect.any(String),
            'app.kubernetes.io/version': expect.any(String),
          },
        });
        const owners = object.metadata.ownerReferences?.map((owner) => owner.uid);
        expect(owners).toEqual(isFilled(child) ? undefined : [uid]);
      }
    },
  );

  it.each(samples)('$story: each child has a name of its own', ({ cluster }) => {
    const names = refs(objectsOf(engine.resources(cluster)));
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(samples)('$story: selectors hold fixed labels alone, and tell this cluster from others', ({ cluster }) => {
    const objects = objectsOf(engine.resources(cluster));
    const selectors = objects.flatMap(selectorsOf);
    expect(selectors.length).toBeGreaterThan(0);
    for (const selector of selectors) {
      expect(selector).toMatchObject({ [instanceLabel]: cluster.metadata.name, [managedByLabel]: managedBy });
      const own = Object.keys(selector).filter((key) => !/^(app\.kubernetes\.io|clusterwright\.dev)\//.test(key));
      expect([own, Object.keys(selector).includes('app.kubernetes.io/version')]).toEqual([[], false]);
    }
    for (const object of objects) {
      const labels = podTemplateOf(object)?.metadata.labels;
      if (labels !== undefined) expect(labels).toMatchObject(selectorsOf(object)[0] ?? {});
    }
  });

  it.each(samples)('$story: pods are let in by the restricted Pod Security Standard', ({ cluster }) => {
    const templates = objectsOf(engine.resources(cluster)).flatMap((object) => podTemplateOf(object) ?? []);
    expect(templates.length).toBeGreaterThan(0);
    expect(templates.flatMap(({ spec }) => restrictedBreaches(spec))).toEqual([]);
  });

  it.each(samples)(
    '$story: permissions are what the kinds of its children need, and pods and claims',
    ({ cluster }) => {
      for (const child of engine.resources(cluster)) {
        const { object } = child;
        const { group, plural } = resourceOf(object);
        const needed = isFilled(child) ? ['get', 'create'] : ['get', 'list', 'watch', 'create', 'patch'];
        expect([...verbsOn(engine, group, plural)]).toEqual(expect.arrayContaining(needed));
      }
      expect([...verbsOn(engine, '', 'secrets')]).not.toEqual(expect.arrayContaining(['list']));
    },
  );

  it.each(samples)(
    '$story: offline, all children are planned to be created, and nobody is asked for anything',
    ({ cluster }) => {
      const { steps } = engine.planOffline(cluster);
      const created = steps.flatMap((step) => (step.type === 'create' || step.type === 'issue' ? [step.object] : []));
      expect(created.length).toBe(steps.length);
      expect(refs(created)).toEqual(refs(objectsOf(engine.resources(cluster))));
    },
  );

  it.each(samples)('$story: what the API server makes of a child is no difference to it', ({ cluster }) => {
    for (const child of engine.resources(cluster)) {
      const { object } = child;
      if (isFilled(child)) continue;
      const wanted = fingerprinted(object);
      expect([object.metadata.name, difference(wanted, stored(wanted))]).toEqual([object.metadata.name, []]);
    }
  });

  it.each(samples)(
    '$story: when all is well nothing is planned, and the cluster is ready',
    async ({ cluster, whole }) => {
      const { plan, status } = await engine.assess(cluster, whole.children, whole.io);
      expect(plan).toEqual({ steps: [], outcome: { state: 'settled' } });
      expect(status.conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
    },
  );

  it.each(samples)('$story: no secret is in what it plans or says', async ({ cluster, whole, secrets }) => {
    const assessment = await engine.assess(cluster, whole.children, whole.io);
    const text = [
      wordsOf(engine.planOffline(cluster)),
      wordsOf(assessment.plan),
      JSON.stringify(assessment.status),
      JSON.stringify(engine.resources(cluster)),
    ].join('\n');
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it('the ports that it connects to are ports of its pods', () => {
    const templates = samples
      .flatMap(({ cluster }) => objectsOf(engine.resources(cluster)))
      .flatMap((object) => podTemplateOf(object) ?? []);
    type Container = { readonly ports?: readonly { readonly containerPort: number }[] };
    const open = templates.flatMap(({ spec }) =>
      (spec.containers as readonly Container[]).flatMap(({ ports = [] }) => ports.map((port) => port.containerPort)),
    );
    expect(engine.ports.length).toBeGreaterThan(0);
    expect(open).toEqual(expect.arrayContaining([...engine.ports]));
  });

  it('permissions name only kinds that it makes, and the pods and claims that follow from them', () => {
    const made = samples.flatMap(({ cluster }) =>
      objectsOf(engine.resources(cluster)).map((object) => resourceOf(object).plural),
    );
    const granted = engine.permissions.flatMap(({ resources }) => resources);
    expect(new Set(granted)).toEqual(new Set([...made, 'pods', 'persistentvolumeclaims']));
    expect(granted).not.toContain('pods/exec');
  });
}
