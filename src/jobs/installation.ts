/**
 * An engine that knows how its operator is installed. Every cluster that it is given is told so: builders and rules need nothing but the
 * cluster.
 */
import type { Cluster } from '../api/cluster.ts';
import type { BackupSupport } from '../engine/backup-support.ts';
import type { KindHandler } from '../engine/engine.ts';
import { memoize } from '../plan/memoize.ts';
import { defaultOperatorNamespace } from '../resources/operator-pods.ts';

export interface Installation {
  /** Where images come from that nobody names. Undefined: from where they are released. */
  readonly imageRegistry?: string | undefined;
  /** Where the operator runs. Undefined: in `clusterwright-system`. */
  readonly operatorNamespace?: string | undefined;
}

export function withInstallation(handler: KindHandler, installation: Installation): KindHandler {
  const { imageRegistry } = installation;
  const operatorNamespace =
    installation.operatorNamespace === defaultOperatorNamespace ? undefined : installation.operatorNamespace;
  if (imageRegistry === undefined && operatorNamespace === undefined) return handler;
  const facts = {
    ...(imageRegistry === undefined ? {} : { imageRegistry }),
    ...(operatorNamespace === undefined ? {} : { operatorNamespace }),
  };
  // What is built of a cluster is known by the cluster: the same one has to stay the same one.
  const told = memoize((cluster: Cluster): Cluster => ({ ...cluster, ...facts }));
  const { removal, forecast, listener, lastBackup, ownsNoVolume, backup, maintenance } = handler;
  return {
    ...handler,
    resources: (cluster, referred) => handler.resources(told(cluster), referred),
    assess: (cluster, ...rest) => handler.assess(told(cluster), ...rest),
    planOffline: (cluster, referred) => handler.planOffline(told(cluster), referred),
    ...(removal === undefined ? {} : { removal: (cluster, ...rest) => removal(told(cluster), ...rest) }),
    ...(forecast === undefined ? {} : { forecast: (cluster, children) => forecast(told(cluster), children) }),
    ...(lastBackup === undefined ? {} : { lastBackup: (cluster, ...rest) => lastBackup(told(cluster), ...rest) }),
    ...(ownsNoVolume === undefined
      ? {}
      : { ownsNoVolume: (cluster, children) => ownsNoVolume(told(cluster), children) }),
    ...(listener === undefined
      ? {}
      : {
          listener: {
            endpoints: listener.endpoints,
            listen: (endpoint, cluster, ...rest) => listener.listen(endpoint, told(cluster), ...rest),
          },
        }),
    ...(backup === undefined ? {} : { backup: backupTold(backup, told) }),
    ...(maintenance === undefined
      ? {}
      : { maintenance: { ...maintenance, plan: (cluster, ...rest) => maintenance.plan(told(cluster), ...rest) } }),
  };
}

function backupTold(backup: BackupSupport<unknown>, told: (cluster: Cluster) => Cluster): BackupSupport<unknown> {
  const { archive } = backup;
  return {
    ...backup,
    source: (cluster) => backup.source(told(cluster)),
    restoreTemplate: (cluster) => backup.restoreTemplate(told(cluster)),
    drill: (cluster, contents) => backup.drill(told(cluster), contents),
    contents: (cluster, ...rest) => backup.contents(told(cluster), ...rest),
    ...(archive === undefined
      ? {}
      : {
          archive: {
            isParked: (cluster) => archive.isParked(told(cluster)),
            kept: (cluster, ...rest) => archive.kept(told(cluster), ...rest),
          },
        }),
  };
}
