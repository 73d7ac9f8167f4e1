/** What each action makes of an object, and when it is offered: test data in the layout of Argo CD's own tests. */
import { backupKind } from '../../api/backup.ts';
import { restartAnnotation } from '../../api/maintenance.ts';
import { apiVersionOf, type KubeObject } from '../../api/object.ts';
import type { KindHandler } from '../../engine/engine.ts';
import type { ActionName, Actions } from './customizations.ts';
import { exampleOf } from './examples.ts';

/** When the actions of the examples are carried out. */
export const actionTime = '2030-06-01T12:00:00Z';

/** How an action is offered in the UI. */
export const offers: Readonly<Record<ActionName, { readonly displayName: string; readonly iconClass: string }>> = {
  pause: { displayName: 'Pause', iconClass: 'fa fa-fw fa-pause' },
  resume: { displayName: 'Resume', iconClass: 'fa fa-fw fa-play' },
  restart: { displayName: 'Restart', iconClass: 'fa fa-fw fa-redo' },
  'back-up': { displayName: 'Back up', iconClass: 'fa fa-fw fa-save' },
};

/** Names of files in `testdata`. */
export interface ActionExamples {
  readonly objects: Readonly<Record<string, KubeObject>>;
  readonly discovery: readonly { readonly input: string; readonly enabled: readonly ActionName[] }[];
  readonly actions: readonly { readonly action: ActionName; readonly input: string; readonly output: string }[];
}

const policy = {
  target: { claim: { name: 'backups', path: 'databases' } },
  encryption: { secret: 'backup-key' },
} as const;

export function actionExamples(handler: KindHandler, actions: Actions): ActionExamples {
  const isSchedule = handler.kind.schema.properties?.spec?.properties?.suspend !== undefined;
  const field = isSchedule ? 'suspend' : 'paused';
  const more = isSchedule ? policy : { backup: policy };
  const running = labelled(exampleOf(handler, undefined, { ...more, [field]: false }));
  const paused = labelled(exampleOf(handler, undefined, { ...more, [field]: true }));
  const backup = backupOf(running);
  const restarted = annotated(running, { [restartAnnotation]: actionTime });
  const canRestart = actions.scripts.restart !== undefined;
  return {
    objects: {
      running,
      paused,
      backup,
      ...(isSchedule ? {} : { 'no-target': exampleOf(handler) }),
      ...(canRestart ? { restarted } : {}),
    },
    discovery: [
      { input: 'running', enabled: ['back-up', 'pause', ...(canRestart ? (['restart'] as const) : [])] },
      { input: 'paused', enabled: ['back-up', 'resume'] },
      ...(isSchedule
        ? []
        : [{ input: 'no-target', enabled: ['pause', ...(canRestart ? (['restart'] as const) : [])] as const }]),
    ],
    actions: [
      { action: 'pause', input: 'running', output: 'paused' },
      { action: 'resume', input: 'paused', output: 'running' },
      { action: 'back-up', input: 'running', output: 'backup' },
      ...(canRestart ? [{ action: 'restart', input: 'running', output: 'restarted' } as const] : []),
    ],
  };
}

const labels = { tier: 'blue' };

/** With a label of its own, and the one by which Argo CD finds what it has made. */
function labelled(object: KubeObject): KubeObject {
  const tracked = { ...labels, 'app.kubernetes.io/instance': 'databases' };
  return { ...object, metadata: { ...object.metadata, labels: tracked } };
}

function annotated(object: KubeObject, annotations: Readonly<Record<string, string>>): KubeObject {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** What is created for a cluster, or for the cluster of a schedule. */
function backupOf({ kind, metadata, spec }: KubeObject): KubeObject {
  const { cluster = { kind, name: metadata.name } } = spec as { readonly cluster?: object };
  const { name, namespace } = metadata;
  return {
    apiVersion: apiVersionOf(backupKind.resource),
    kind: backupKind.resource.kind,
    metadata: { name: `${name}-20300601120000`, ...(namespace === undefined ? {} : { namespace }), labels },
    spec: { cluster, ...policy },
  };
}
