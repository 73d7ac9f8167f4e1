/** The monitoring kit, a file for each part, in a folder of its own: `kubectl apply -k dist/` does not reach it. */
import { App, Chart } from 'cdk8s';
import { Monitoring, type MonitoringProps } from '../constructs/monitoring.ts';

const parts = {
  'pod-monitors': 'podMonitors',
  rules: 'rules',
  dashboards: 'dashboards',
  'state-metrics': 'stateMetrics',
} as const;

const none = { podMonitors: false, rules: false, dashboards: false, stateMetrics: false } as const;

export function createMonitoringApp(outdir: string, props: MonitoringProps = {}): App {
  const app = new App({ recordConstructMetadata: false, outdir });
  for (const [name, part] of Object.entries(parts)) {
    const chart = new Chart(app, name, { disableResourceNameHashes: true });
    new Monitoring(chart, 'monitoring', { ...props, ...none, [part]: true });
  }
  return app;
}
