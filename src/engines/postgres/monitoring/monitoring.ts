/** What people watch of PostgreSQL: the exporters of its members. */
import type { EngineMonitoring } from '../../../engine/monitoring.ts';
import { postgresKind } from '../kind/schema.ts';
import { exporterComponent } from '../names.ts';
import { postgresAlerts } from './alerts.ts';
import { postgresPanels } from './panels.ts';

export const postgresMonitoring: EngineMonitoring = {
  name: 'postgres',
  kind: postgresKind.resource.kind,
  title: 'PostgreSQL',
  requires:
    'These alerts need the [exporters](../engines/postgres/pooler.md#metrics): `spec.monitoring: {}` of the PostgresCluster.',
  scrapes: [{ component: exporterComponent, port: 'metrics' }],
  alerts: postgresAlerts,
  panels: postgresPanels,
};
