/** The page of alerts, as Markdown: what each means, and what to do. `runbook_url` of an alert leads to its heading. */
import type { Alert, MonitoringPart } from '../engine/monitoring.ts';
import { anchorOf } from './rules.ts';

export function alertsPage(parts: readonly MonitoringPart[], generator = 'npm run generate'): string {
  const lines = [
    '# Alerts',
    '',
    `<!-- Generated from the alerts by \`${generator}\`. Do not edit. -->`,
    '',
    '[Monitoring](../monitoring.md#install-the-monitoring-kit) says how to install these alerts.',
    '',
    '- `critical`: act now, at any time of day.',
    '- `warning`: act on the next working day.',
    '',
    '| Alert | Severity | After |',
    '|---|---|---|',
    ...parts.flatMap(({ alerts }) =>
      alerts.map((alert) => `| [\`${alert.name}\`](#${anchorOf(alert)}) | ${alert.severity} | ${alert.for} |`),
    ),
    ...parts.flatMap(partLines),
  ];
  return `${lines.join('\n')}\n`;
}

function partLines({ title, requires, alerts }: MonitoringPart): string[] {
  return ['', `## ${title}`, '', requires, ...alerts.flatMap(alertLines)];
}

function alertLines(alert: Alert): string[] {
  return [
    '',
    `### ${alert.name}`,
    '',
    `Severity \`${alert.severity}\`, after ${alert.for}.`,
    '',
    alert.meaning,
    '',
    ...alert.actions.map((action, index) => `${index + 1}. ${action}`),
    '',
    '```promql',
    alert.expr,
    '```',
  ];
}
