/** What people watch of etcd: each member serves metrics itself. */
import type { EngineMonitoring } from '../../../engine/monitoring.ts';
import { etcdKind } from '../kind/schema.ts';
import { component } from '../resources/resources.ts';
import { etcdAlerts } from './alerts.ts';
import { etcdPanels } from './panels.ts';

export const etcdMonitoring: EngineMonitoring = {
  name: 'etcd',
  kind: etcdKind.resource.kind,
  title: 'etcd',
  requires: 'Every member serves metrics on port 2381.',
  scrapes: [{ component, port: 'metrics' }],
  alerts: etcdAlerts,
  panels: etcdPanels,
};
