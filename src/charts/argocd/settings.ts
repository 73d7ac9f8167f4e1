/** The customizations as settings of Argo CD: for its ConfigMap `argocd-cm`, and as values of its Helm chart. */
import { stringify } from 'yaml';
import type { Customization } from './customizations.ts';

export function settingsFiles(customizations: readonly Customization[]): Readonly<Record<string, string>> {
  const data = Object.fromEntries(customizations.flatMap(settingsOf));
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'argocd-cm',
      namespace: 'argocd',
      // Argo CD looks at no ConfigMap without it.
      labels: { 'app.kubernetes.io/part-of': 'argocd' },
    },
    data,
  };
  return {
    'argocd-cm.yaml': yaml(configMap),
    'values.yaml': yaml({ configs: { cm: data } }),
  };
}

function settingsOf({ kind, health, actions }: Customization): readonly (readonly [key: string, text: string])[] {
  const name = `${kind.resource.group}_${kind.resource.kind}`;
  return [
    [`resource.customizations.health.${name}`, health],
    ...(actions === undefined
      ? []
      : [
          [
            `resource.customizations.actions.${name}`,
            yaml({
              'discovery.lua': actions.discovery,
              definitions: Object.entries(actions.scripts).map(([action, script]) => ({
                name: action,
                'action.lua': script,
              })),
            }),
          ] as const,
        ]),
  ];
}

function yaml(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
