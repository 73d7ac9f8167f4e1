/** Ways to change one thing of the toy engine. */
import type { Cluster } from '../../src/api/cluster.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { RestoreTemplate } from '../../src/engine/backup-support.ts';
import type { PolicyRule, StatusReport } from '../../src/engine/engine.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { type Fields, fieldsIn } from '../../src/testing/fields.ts';
import { type Toy, type ToySpec, toy, toyBackup, toyKind } from './toy-engine.ts';

/** The resources of the toy, with each object of a kind changed. */
export function changed(kind: string, change: (object: KubeObject, cluster: Cluster<ToySpec>) => Fields): Partial<Toy> {
  return {
    resources: (cluster) =>
      toy.resources(cluster).map((desired) => {
        const { object } = desired;
        return object.kind === kind
          ? { ...desired, object: { ...object, ...change(object, cluster) } as KubeObject }
          : desired;
      }),
  };
}

export const metadataOf = (kind: string, change: (metadata: KubeObject['metadata']) => Fields): Partial<Toy> =>
  changed(kind, ({ metadata }) => ({ metadata: { ...metadata, ...change(metadata) } }));

export const labelled = (change: Fields): Partial<Toy> =>
  metadataOf('Service', ({ labels }) => ({ labels: { ...labels, ...change } }));

export const specOf = (kind: string, change: (spec: Fields) => Fields): Partial<Toy> =>
  changed(kind, ({ spec }) => ({ spec: { ...fieldsIn(spec), ...change(fieldsIn(spec)) } }));

export const selecting = (change: Fields): Partial<Toy> =>
  specOf('Service', ({ selector }) => ({ selector: { ...fieldsIn(selector), ...change } }));

export const podSpecOf = (change: Fields): Partial<Toy> =>
  specOf('StatefulSet', ({ template }) => {
    const { metadata, spec } = fieldsIn(template);
    return { template: { metadata, spec: { ...fieldsIn(spec), ...change } } };
  });

export const claimOf = (change: (template: Fields) => Fields): Partial<Toy> =>
  specOf('StatefulSet', ({ volumeClaimTemplates }) => ({
    volumeClaimTemplates: (volumeClaimTemplates as readonly Fields[]).map((each) => ({ ...each, ...change(each) })),
  }));

/** A managed resource beside those of the toy, with the metadata of its Service. */
export const withObject = (change: Fields): Partial<Toy> => ({
  resources: (cluster) => {
    const desired = toy.resources(cluster);
    const metadata = { ...desired[0]?.object.metadata, name: 'toy-more' };
    return [...desired, { object: { apiVersion: 'v1', metadata, ...change } as KubeObject }];
  },
});

export const permitted = (change: (rule: PolicyRule) => PolicyRule): Partial<Toy> => ({
  permissions: toy.permissions.map(change),
});

export const withoutVerb = (plural: string, verb: string): Partial<Toy> =>
  permitted((rule) =>
    rule.resources.includes(plural) ? { ...rule, verbs: rule.verbs.filter((each) => each !== verb) } : rule,
  );

export const alsoPermitted = (plural: string, verb: string): Partial<Toy> => ({
  permissions: [...toy.permissions, { apiGroups: [''], resources: [plural], verbs: [verb] }],
});

export const schemaOf = (change: Fields): Partial<Toy> => ({
  definition: { ...toy.definition, kind: { ...toyKind, schema: { ...toyKind.schema, ...change } } },
});

export const { properties: parts = {} } = toyKind.schema;

export const specSchemaOf = (change: Fields): Partial<Toy> =>
  schemaOf({ properties: { ...parts, spec: { ...parts.spec, ...change } } });

export const withField = (name: string, schema: Fields): Partial<Toy> =>
  specSchemaOf({ properties: { ...parts.spec?.properties, [name]: schema } });

/** The schema of a field. */
export const text = { type: 'string', description: 'A text.' };

export const planning = (change: (plan: Plan, situation: Parameters<Toy['plan']>[0]) => Plan): Partial<Toy> => ({
  plan: (situation, take) => change(toy.plan(situation, take), situation),
});

export const reporting = (change: (report: StatusReport) => StatusReport): Partial<Toy> => ({
  status: (situation, plan) => change(toy.status(situation, plan)),
});

export const backedUp = (change: Partial<NonNullable<Toy['backup']>>): Partial<Toy> => ({
  backup: { ...toyBackup, ...change },
});

export const restoring = (change: Partial<RestoreTemplate>): Partial<Toy> =>
  backedUp({ restoreTemplate: (cluster) => ({ ...toyBackup.restoreTemplate(cluster), ...change }) });

export const withoutClaims: Partial<Toy> = specOf('StatefulSet', ({ volumeClaimTemplates: _ }) => ({
  volumeClaimTemplates: undefined,
}));
