/** The customizations in the layout of Argo CD's own repository: `resource_customizations/GROUP/KIND/`, each with its tests. */
import { stringify } from 'yaml';
import type { KindHandler } from '../../engine/engine.ts';
import { actionExamples, offers } from './action-examples.ts';
import type { ActionName, Customization } from './customizations.ts';
import { healthExamples } from './examples.ts';

const yaml = (value: object): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

export function repositoryFiles(handler: KindHandler, customization: Customization): Readonly<Record<string, string>> {
  const { group, kind } = handler.kind.resource;
  const files = { ...healthFiles(handler, customization), ...actionFiles(handler, customization) };
  const folder = `resource_customizations/${group}/${kind}`;
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}

function healthFiles(handler: KindHandler, { health }: Customization): Readonly<Record<string, string>> {
  const examples = healthExamples(handler);
  const tests = examples.map(({ name, health: healthStatus }) => ({
    healthStatus,
    inputPath: `testdata/${name}.yaml`,
  }));
  return {
    'health.lua': health,
    'health_test.yaml': yaml({ tests }),
    ...Object.fromEntries(examples.map(({ name, object }) => [`testdata/${name}.yaml`, yaml(object)])),
  };
}

function actionFiles(handler: KindHandler, { actions }: Customization): Readonly<Record<string, string>> {
  if (actions === undefined) return {};
  const examples = actionExamples(handler, actions);
  const names = Object.keys(actions.scripts) as readonly ActionName[];
  const path = (name: string): string => `testdata/${name}.yaml`;
  const tests = {
    discoveryTests: examples.discovery.map(({ input, enabled }) => ({
      inputPath: path(input),
      result: names.map((name) => ({ name, disabled: !enabled.includes(name), ...offers[name] })),
    })),
    actionTests: examples.actions.map(({ action, input, output }) => ({
      action,
      inputPath: path(input),
      expectedOutputPath: path(output),
    })),
  };
  return {
    'actions/discovery.lua': actions.discovery,
    'actions/action_test.yaml': yaml(tests),
    ...Object.fromEntries(
      Object.entries(actions.scripts).map(([name, script]) => [`actions/${name}/action.lua`, script]),
    ),
    ...Object.fromEntries(
      Object.entries(examples.objects).map(([name, object]) => [`actions/${path(name)}`, yaml(object)]),
    ),
  };
}
