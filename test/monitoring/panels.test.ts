/** Panels of every kind: whole as data, in the terms that the dashboards give them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ofCluster } from '../../src/engine/monitoring.ts';
import { engineMonitoring } from '../../src/engines/monitoring.ts';
import { alertsPage } from '../../src/monitoring/alerts-page.ts';
import { conditionMonitoring, conditionPanels } from '../../src/monitoring/conditions.ts';
import { operatorMonitoring } from '../../src/monitoring/operator.ts';
import { hasPromtool, promtool } from '../support/promtool.ts';

const engines = engineMonitoring.map((engine) => ({
  ...engine,
  panels: [...conditionPanels(engine.kind), ...engine.panels],
}));
const parts = [operatorMonitoring, ...engines];

describe.each(parts)('panels of $name', ({ panels }) => {
  it('have titles of their own, and say what they show', () => {
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const { description, queries } of panels) {
      expect(description).toMatch(/\.$/);
      expect(queries.length).toBeGreaterThan(0);
    }
  });

  it.skipIf(!hasPromtool)('ask what Prometheus understands', () => {
    const rules = panels.flatMap(({ queries }) =>
      queries.map(({ expr }, at) => ({ record: `query:${at}`, expr: expr.replaceAll('$__rate_interval', '5m') })),
    );
    // As groups of one each: the same name in two of them is no fault.
    const groups = rules.map((rule, at) => ({ name: `panel ${at}`, rules: [rule] }));
    expect(promtool(['check', 'rules', '--lint=none'], { 'rules.json': { groups } })).toBe('ok');
  });
});

it.each(engineMonitoring.flatMap(({ panels }) => panels))('$title is of the selected clusters', ({ queries }) => {
  for (const { expr } of queries) expect(expr).toContain(ofCluster);
});

it('the page of alerts is the one that is committed; `npm run generate` writes it', () => {
  const page = alertsPage([conditionMonitoring, operatorMonitoring, ...engineMonitoring]);
  expect(readFileSync('docs/reference/alerts.md', 'utf8')).toBe(page);
});
