/** Alerts of every kind: whole as data, and played by promtool, so that each fires when it should and not otherwise. */
import { describe, expect, it } from 'vitest';
import type { MonitoringPart } from '../../src/engine/monitoring.ts';
import { engineMonitoring } from '../../src/engines/monitoring.ts';
import { conditionMonitoring } from '../../src/monitoring/conditions.ts';
import { operatorMonitoring } from '../../src/monitoring/operator.ts';
import { ruleGroup } from '../../src/monitoring/rules.ts';
import { hasPromtool, promtool } from '../support/promtool.ts';
import { type AlertCase, minutes, type Series } from './case.ts';
import { conditionCases } from './cases/conditions.ts';
import { etcdCases } from './cases/etcd.ts';
import { operatorCases } from './cases/operator.ts';
import { postgresCases } from './cases/postgres.ts';
import { redisCases } from './cases/redis.ts';

const parts = [conditionMonitoring, operatorMonitoring, ...engineMonitoring];
const alerts = parts.flatMap((part) => part.alerts);
const rulesOf = (played: readonly MonitoringPart[]) => ({
  groups: played.map((part) => ruleGroup(part, 'https://example.com/alerts.md')),
});
const stories: Readonly<Record<string, readonly AlertCase[]>> = {
  conditions: conditionCases,
  operator: operatorCases,
  etcd: etcdCases,
  postgres: postgresCases,
  redis: redisCases,
};
const cases = Object.values(stories).flat();

describe.each(alerts)('$name', (alert) => {
  it('says what it means and what to do', () => {
    expect(alert.severity).toMatch(/^(critical|warning)$/);
    expect(alert.for).toMatch(/^[1-9]\d?m$/);
    expect(alert.meaning.length).toBeGreaterThan(30);
    expect(alert.actions.length).toBeGreaterThan(0);
    for (const text of [alert.summary, alert.meaning, ...alert.actions]) expect(text).toMatch(/[.`:)]$/);
  });

  it('has a story, and names in its summary only labels that its series have', () => {
    const own = cases.filter((each) => each.alert === alert.name);
    expect(own.length).toBeGreaterThan(0);
    const used = [...alert.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    // Of an alert for a member or for its whole cluster, the summary names what both have.
    for (const { labels } of own) expect(Object.keys(labels)).toEqual(expect.arrayContaining(used));
  });
});

it('names are distinct', () => {
  const names = alerts.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(cases.map(({ alert }) => alert).filter((name) => !names.includes(name))).toEqual([]);
});

it('a description has the words of a link alone', () => {
  const alert = { ...alerts[0], meaning: 'See [this](../page.md#part), and [that](x).' } as NonNullable<
    (typeof alerts)[0]
  >;
  const { rules } = ruleGroup({ ...conditionMonitoring, alerts: [alert] }, undefined);
  expect(rules[0]?.annotations.description).toBe('See this, and that.');
});

const play = (series: Series, expr: string, expected: readonly object[]): object => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  promql_expr_test: [{ expr, eval_time: `${minutes}m`, exp_samples: expected }],
});

function playBoth({ alert, fires, labels, quiet }: AlertCase): object[] {
  const severity = alerts.find(({ name }) => name === alert)?.severity ?? 'none';
  const all = { alertname: alert, alertstate: 'firing', severity, ...labels };
  const text = Object.entries(all).map(([label, value]) => `${label}="${value}"`);
  const firing = `ALERTS{alertname="${alert}", alertstate="firing"}`;
  return [play(fires, firing, [{ labels: `ALERTS{${text.join(',')}}`, value: 1 }]), play(quiet, firing, [])];
}

describe.skipIf(!hasPromtool)('promtool (of the package prometheus)', { timeout: 120_000 }, () => {
  it('reads every rule', () => {
    expect(promtool(['check', 'rules', '--lint-fatal'], { 'rules.json': rulesOf(parts) })).toBe('ok');
  });

  // Promtool evaluates every rule at every minute of every story: stories meet the rules of the parts that they tell of.
  const ownRules = (name: string) => {
    const told = new Set(stories[name]?.map(({ alert }) => alert));
    return rulesOf(parts.filter((part) => part.alerts.some((alert) => told.has(alert.name))));
  };

  it.each(Object.entries(stories))('alerts of %s fire, and do not', (name, each) => {
    const test = { rule_files: ['rules.json'], evaluation_interval: '1m', tests: each.flatMap(playBoth) };
    expect(promtool(['test', 'rules'], { 'rules.json': ownRules(name), 'test.json': test })).toBe('ok');
  });

  it.each(engineMonitoring.map(({ name }) => name))('alerts of %s leave alone what others have', (name) => {
    const tests = (stories[name] ?? []).map(({ alert, fires }) => {
      const firing = `ALERTS{alertname="${alert}", alertstate="firing"}`;
      return play(ofSomebodyElse(fires), firing, []);
    });
    const test = { rule_files: ['rules.json'], evaluation_interval: '1m', tests };
    expect(promtool(['test', 'rules'], { 'rules.json': ownRules(name), 'test.json': test })).toBe('ok');
  });
});

/** As an exporter of another database serves them, or the etcd of Kubernetes: PodMonitors of ours have given them no labels. */
function ofSomebodyElse(series: Series): Series {
  const renamed = (name: string): string =>
    name.replaceAll('clusterwright_member=', 'instance=').replace(/clusterwright_(cluster|engine)="[^"]*",?/g, '');
  return Object.fromEntries(Object.entries(series).map(([name, values]) => [renamed(name), values]));
}
