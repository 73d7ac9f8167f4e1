/** etcd: members that agree on every change, one StatefulSet each. */

import type { Engine } from '../../engine/engine.ts';
import { actEtcd } from './act/act.ts';
import type { EtcdAction } from './action.ts';
import { etcdBackup } from './backup/support.ts';
import { etcdDefinition } from './definition.ts';
import type { EtcdSpec } from './kind/schema.ts';
import { clientPort, metricsPort } from './names.ts';
import { listenToMember, memberEndpoints } from './observe/listen.ts';
import { observeEtcd } from './observe/observe.ts';
import { type EtcdObserved, nothingObserved } from './observe/observed.ts';
import { type Situation, situationOf } from './observe/situation.ts';
import { forecastEtcd } from './plan/forecast.ts';
import { etcdMaintenance } from './plan/issuance.ts';
import { planEtcd } from './plan/plan.ts';
import { etcdPermissions } from './resources/permissions.ts';
import { etcdResources } from './resources/resources.ts';
import { etcdStatus } from './status.ts';

export const etcd: Engine<EtcdSpec, EtcdObserved, Situation, EtcdAction> = {
  definition: etcdDefinition,
  permissions: etcdPermissions,
  ports: [clientPort, metricsPort],
  resources: etcdResources,
  observe: observeEtcd,
  situation: situationOf,
  plan: planEtcd,
  act: actEtcd,
  status: etcdStatus,
  offlineObservation: nothingObserved,
  backup: etcdBackup,
  forecast: forecastEtcd,
  maintenance: etcdMaintenance,
  listener: { endpoints: memberEndpoints, listen: listenToMember },
};
