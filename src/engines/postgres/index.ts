/** PostgreSQL: a primary and its standbys, with Patroni in the pods, which elects without the operator. */
import type { Engine } from '../../engine/engine.ts';
import { actPostgres } from './act/act.ts';
import type { PostgresAction } from './action.ts';
import { postgresBackup } from './backup/support.ts';
import { postgresDefinition } from './definition.ts';
import type { PostgresSpec } from './kind/schema.ts';
import { patroniPort, poolerPort, sqlPort } from './names.ts';
import { withoutHeartbeats } from './observe/heartbeats.ts';
import { listenToMember, memberEndpoints } from './observe/listen.ts';
import { observePostgres } from './observe/observe.ts';
import { nothingObserved, type PostgresObserved } from './observe/observed.ts';
import { type Situation, situationOf } from './observe/situation.ts';
import { forecastPostgres } from './plan/forecast.ts';
import { postgresMaintenance } from './plan/maintenance.ts';
import { planPostgres } from './plan/plan.ts';
import { postgresPermissions } from './resources/permissions.ts';
import { postgresResources } from './resources/resources.ts';
import { postgresStatus } from './status.ts';

export const postgres: Engine<PostgresSpec, PostgresObserved, Situation, PostgresAction> = {
  definition: postgresDefinition,
  permissions: postgresPermissions,
  ports: [sqlPort, patroniPort, poolerPort],
  resources: postgresResources,
  observe: observePostgres,
  situation: situationOf,
  plan: planPostgres,
  act: actPostgres,
  status: postgresStatus,
  offlineObservation: nothingObserved,
  forecast: forecastPostgres,
  listener: { endpoints: memberEndpoints, listen: listenToMember },
  backup: postgresBackup,
  withoutHeartbeats,
  maintenance: postgresMaintenance,
};
