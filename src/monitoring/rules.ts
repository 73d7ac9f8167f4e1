/** Alerts as Prometheus reads them. */
import type { Alert, MonitoringPart } from '../engine/monitoring.ts';

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly {
    readonly alert: string;
    readonly expr: string;
    readonly for: string;
    readonly labels: { readonly severity: string };
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

/** The heading of an alert in the page of alerts, as a link knows it. */
export const anchorOf = ({ name }: Alert): string => name.toLowerCase();

/** @param runbookUrl the address of the page of alerts */
export function ruleGroup({ name, alerts }: MonitoringPart, runbookUrl: string | undefined): RuleGroup {
  return {
    name: `clusterwright-${name}`,
    rules: alerts.map((alert) => ({
      alert: alert.name,
      expr: alert.expr,
      for: alert.for,
      labels: { severity: alert.severity },
      annotations: {
        summary: alert.summary,
        description: plain(alert.meaning),
        ...(runbookUrl === undefined ? {} : { runbook_url: `${runbookUrl}#${anchorOf(alert)}` }),
      },
    })),
  };
}

/** Links lead from the page of alerts, not from a message. */
const plain = (markdown: string): string => markdown.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');
