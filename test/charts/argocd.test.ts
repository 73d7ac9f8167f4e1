/** What Argo CD is told of our kinds; `real-argocd.test.ts` runs it. */
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { schemaViolations } from '../../src/api/check.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { actionExamples } from '../../src/charts/argocd/action-examples.ts';
import { customizationOf } from '../../src/charts/argocd/customizations.ts';
import { healthExamples } from '../../src/charts/argocd/examples.ts';
import { argocdFiles } from '../../src/charts/argocd/files.ts';
import { handlers } from '../support/handlers.ts';
import { statusContradictions } from '../support/status-contradictions.ts';

const files = argocdFiles();
const kinds = handlers.map((handler) => [handler.kind.resource.kind, handler] as const);

interface Settings {
  readonly data: Readonly<Record<string, string>>;
}

interface ActionSettings {
  readonly 'discovery.lua': string;
  readonly definitions: readonly { readonly name: string; readonly 'action.lua': string }[];
}

describe.each(kinds)('%s', (name, handler) => {
  const { kind } = handler;
  const examples = healthExamples(handler);

  test('each example is valid, and its status is one that the operator writes', () => {
    const status = kind.schema.properties?.status ?? {};
    for (const { object } of examples) {
      expect(validateCluster(kind, object)).toMatchObject({ ok: true });
      expect(schemaViolations(status, object.status ?? {})).toEqual([]);
      expect(statusContradictions(object)).toEqual([]);
    }
  });

  test('there is an example of each phase but the last', () => {
    const phases = kind.schema.properties?.status?.properties?.phase?.enum ?? [];
    const shown = new Set(examples.map(({ object }) => (object.status as { phase?: string } | undefined)?.phase));
    expect(phases.filter((phase) => !shown.has(String(phase)))).toEqual(phases.filter((phase) => phase === 'Deleting'));
  });

  test('the ConfigMap and the values of the Helm chart have the scripts of the tree', () => {
    const { data } = parse(files['argocd-cm.yaml'] ?? '') as Settings;
    expect(parse(files['values.yaml'] ?? '')).toEqual({ configs: { cm: data } });
    const folder = `resource_customizations/clusterwright.dev/${name}`;
    expect(data[`resource.customizations.health.clusterwright.dev_${name}`]).toBe(files[`${folder}/health.lua`]);
    const actions = data[`resource.customizations.actions.clusterwright.dev_${name}`];
    expect(actions === undefined).toBe(files[`${folder}/actions/discovery.lua`] === undefined);
    if (actions === undefined) return;
    const { definitions, ...settings } = parse(actions) as ActionSettings;
    expect(settings['discovery.lua']).toBe(files[`${folder}/actions/discovery.lua`]);
    for (const { name: action, 'action.lua': script } of definitions) {
      expect(script).toBe(files[`${folder}/actions/${action}/action.lua`]);
    }
  });

  test('each action has an example, and each object of the examples is valid', () => {
    const { actions } = customizationOf(kind);
    if (actions === undefined) return;
    const { objects, actions: shown } = actionExamples(handler, actions);
    expect(shown.map(({ action }) => action).sort()).toEqual(Object.keys(actions.scripts).sort());
    for (const object of Object.values(objects)) {
      const of = handlers.find((each) => each.kind.resource.kind === object.kind);
      expect(of === undefined ? undefined : validateCluster(of.kind, object)).toMatchObject({ ok: true });
    }
  });
});

test('which kinds have which actions', () => {
  const offered = kinds.map(([name, { kind }]) => [name, Object.keys(customizationOf(kind).actions?.scripts ?? {})]);
  expect(Object.fromEntries(offered)).toEqual({
    RedisCluster: ['pause', 'resume', 'back-up'],
    EtcdCluster: ['pause', 'resume', 'back-up'],
    PostgresCluster: ['pause', 'resume', 'restart', 'back-up'],
    PostgresDatabase: [],
    PostgresUser: [],
    Backup: [],
    BackupSchedule: ['pause', 'resume', 'back-up'],
  });
});
