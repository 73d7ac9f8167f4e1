/** etcd: members that agree on every change, one StatefulSet each. */
import type { EtcdSpec } from '../../api/etcd.ts';
import type { Engine } from '../engine.ts';
import { actEtcd } from './act.ts';
import type { EtcdAction } from './action.ts';
import { etcdBackup } from './backup.ts';
import { etcdDefinition } from './definition.ts';
import { forecastEtcd } from './forecast.ts';
import { etcdUpkeep } from './issuance.ts';
import { listenToMember, memberEndpoints } from './listen.ts';
import { clientPort, metricsPort } from './names.ts';
import { observeEtcd } from './observe.ts';
import { type EtcdObserved, nothingObserved } from './observed.ts';
import { etcdPermissions } from './permissions.ts';
import { planEtcd } from './plan.ts';
import { etcdResources } from './resources.ts';
import { etcdStatus } from './status.ts';

export const etcd: Engine<EtcdSpec, EtcdObserved, EtcdAction> = {
  definition: etcdDefinition,
  permissions: etcdPermissions,
  ports: [clientPort, metricsPort],
  resources: etcdResources,
  observe: observeEtcd,
  plan: planEtcd,
  act: actEtcd,
  status: etcdStatus,
  nothing: nothingObserved,
  backup: etcdBackup,
  forecast: forecastEtcd,
  upkeep: etcdUpkeep,
  listener: { endpoints: memberEndpoints, listen: listenToMember },
};
