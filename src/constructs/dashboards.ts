/** Grafana dashboards: panels in rows of two, with variables for the data source and, of a kind, the namespace and the cluster. */
import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { conditions, type EngineMonitoring, type MonitoringPart, type Panel } from '../engine/monitoring.ts';
import { conditionPanels } from '../monitoring/conditions.ts';

/** Dashboards are 24 wide. */
const half = 12;
const height = 8;
const source = { type: 'prometheus', uid: '$datasource' };

export function kindDashboard(engine: EngineMonitoring): Dashboard {
  const { title, panels, kind, name, scrapes } = engine;
  // A kind without metrics of its own is known by its conditions.
  const [series, label] =
    scrapes.length === 0
      ? [conditions(`customresource_kind="${kind}"`), 'name']
      : [`up{clusterwright_engine="${name}"}`, 'clusterwright_cluster'];
  const inNamespace = series.replace(/}$/, ', namespace=~"$namespace"}');
  return withPanels(dashboard(name, title), [...conditionPanels(kind), ...panels])
    .withVariable(variable('namespace', 'Namespace', `label_values(${series}, namespace)`))
    .withVariable(variable('cluster', kind, `label_values(${inNamespace}, ${label})`))
    .build();
}

export function operatorDashboard({ name, title, panels }: MonitoringPart): Dashboard {
  return withPanels(dashboard(name, title), panels).build();
}

function dashboard(name: string, title: string): DashboardBuilder {
  return new DashboardBuilder(`clusterwright / ${title}`)
    .uid(`clusterwright-${name}`)
    .tags(['clusterwright'])
    .time({ from: 'now-3h', to: 'now' })
    .refresh('1m')
    .readonly()
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
}

function variable(name: string, label: string, query: string): QueryVariableBuilder {
  return (
    new QueryVariableBuilder(name)
      .label(label)
      .datasource(source)
      .query(query)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.AlphabeticalAsc)
      .multi(true)
      .includeAll(true)
      // Every value, also one that the list does not have yet.
      .allValue('.*')
  );
}

function withPanels(builder: DashboardBuilder, panels: readonly Panel[]): DashboardBuilder {
  for (const [index, panel] of panels.entries()) builder.withPanel(timeseries(panel, index));
  return builder;
}

function timeseries({ title, unit, description, queries }: Panel, index: number): PanelBuilder {
  const gridPos = { x: (index % 2) * half, y: Math.floor(index / 2) * height, w: half, h: height };
  const builder = new PanelBuilder()
    .id(index + 1)
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(source)
    .min(0)
    .gridPos(gridPos);
  for (const [at, { expr, legend }] of queries.entries()) {
    const refId = String.fromCharCode('A'.charCodeAt(0) + at);
    builder.withTarget(new DataqueryBuilder().refId(refId).datasource(source).expr(expr).legendFormat(legend));
  }
  return builder;
}
