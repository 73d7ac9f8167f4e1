/** What docs/monitoring.md says of metrics, reasons, ports and labels, compared with the code that they are in. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { apiVersionOf } from '../../src/api/object.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { archiveReportPort } from '../../src/backup/archive-report.ts';
import { operatorPort } from '../../src/constructs/operator-deployment.ts';
import { etcdKind } from '../../src/engines/etcd/kind/schema.ts';
import { metricsPort, peerPort } from '../../src/engines/etcd/names.ts';
import { patroniPort } from '../../src/engines/postgres/names.ts';
import { proxyHealthPort } from '../../src/engines/redis/names.ts';
import { conditionMonitoring } from '../../src/monitoring/conditions.ts';
import { operatorMonitoring } from '../../src/monitoring/operator.ts';
import { managedBy, managedByLabel } from '../../src/resources/metadata.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { handlers as engines } from '../support/handlers.ts';

const page = readFileSync('docs/monitoring.md', 'utf8');
const section = (heading: string): string => page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
const blocks = (text: string): unknown[] =>
  [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = '']) => parse(yaml));

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

const metrics = Object.values(createMetrics()).filter(
  (value): value is Metric => typeof value === 'object' && value !== null && 'labelNames' in value,
);

const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join('src', file), 'utf8'))
  .join('\n');

describe('docs/monitoring.md', () => {
  it('has a row for every metric, with its labels and its meaning', () => {
    const rows = metrics.map(
      ({ name, help, labelNames }) =>
        `| \`${name}\` | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    );
    expect(rows.length).toBeGreaterThan(10);
    expect(page.split('\n').filter((line) => line.startsWith('| `clusterwright_'))).toEqual(rows);
  });

  it('the operator has every metric of its alerts and panels', () => {
    const queries = operatorMonitoring.panels.flatMap((panel) => panel.queries);
    const used = [...operatorMonitoring.alerts, ...queries].flatMap(
      ({ expr }) => expr.match(/clusterwright_\w+/g) ?? [],
    );
    const known = metrics.map(({ name }) => name);
    expect(new Set(used).size).toBeGreaterThan(10);
    expect(used.filter((name) => !known.includes(name.replace(/_bucket$/, '')))).toEqual([]);
  });

  it('alerts on reasons that are given', () => {
    const alert = conditionMonitoring.alerts.find(({ name }) => name === 'DatabaseUnavailable');
    const reasons = /reason=~"([\w|]+)"/.exec(alert?.expr ?? '')?.[1]?.split('|') ?? [];
    expect(reasons.length).toBeGreaterThan(5);
    expect(reasons.filter((reason) => !section('Conditions').includes(`\`${reason}\``))).toEqual([]);
  });

  it('names reasons that are given', () => {
    const reasons = section('Conditions')
      .split('\n')
      .filter((line) => /^\| `[A-Z]\w+`(, `\w+`)* \| \w/.test(line))
      .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, reason = '']) => reason));
    expect(reasons.length).toBeGreaterThan(5);
    expect(reasons.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
    const blocking = [...source.matchAll(/\bblocked\(\s*'(\w+)'/g)].map(([, reason = '']) => reason);
    expect(blocking.filter((reason) => !reasons.includes(reason))).toEqual([]);
  });

  it('names every reason that a plan or a status gives', () => {
    const found = (pattern: RegExp): string[] => [...source.matchAll(pattern)].map(([, text = '']) => text);
    const constants = found(/\b(?:blocked|wait|waiting)\(\s*([a-z]\w+),/g).flatMap((name) =>
      found(new RegExp(`\\bconst ${name} = '([A-Z]\\w+)'`, 'g')),
    );
    const given = new Set([
      ...found(/\b(?:blocked|wait|waiting)\(\s*'(\w+)'/g),
      ...found(/\bdesiredConditions\(\s*'(?:True|False)',\s*'(\w+)'/g),
      ...found(/\bfailed\(\w+, '(\w+)'/g),
      ...found(/\breason = '([A-Z]\w+)'/g),
      ...constants,
    ]);
    const conditions = section('Conditions');
    expect(given.size).toBeGreaterThan(90);
    // `Outdated` ends a reconcile before its status is written.
    expect([...given].filter((reason) => !conditions.includes(`\`${reason}\``))).toEqual(['Outdated']);
  });

  it('has a row for every port that the operator talks to, and for those that it does not', () => {
    const rows = section('Network connections')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const portsOf = (from: string): number[] =>
      rows
        .filter((row) => row.startsWith(`| ${from}`))
        .flatMap((row) => row.split('|')[3]?.match(/\d+/g) ?? [])
        .map(Number);
    expect(portsOf('operator |')).toEqual([443, 6443, ...engines.flatMap(({ ports }) => ports)]);
    expect(portsOf('kubelet')).toEqual([operatorPort, proxyHealthPort, patroniPort, archiveReportPort, metricsPort]);
    expect(portsOf('etcd members')).toContain(peerPort);
  });

  it('selects pods by labels that they have', () => {
    const [policy] = blocks(section('Network connections')) as { spec: { podSelector: { matchLabels: object } } }[];
    const etcd = engines.find(({ name }) => name === 'etcd');
    const verdict = validateCluster(etcdKind, {
      apiVersion: apiVersionOf(etcdKind.resource),
      kind: 'EtcdCluster',
      metadata: { name: 'registry', namespace: 'shop' },
      spec: {},
    });
    if (etcd === undefined || !verdict.ok) throw new Error('an empty spec is valid');
    const set = etcd.resources(verdict.cluster).find(({ object }) => object.kind === 'StatefulSet');
    const spec = (set?.object.spec ?? {}) as { template?: { metadata: { labels: object } } };
    expect(spec.template?.metadata.labels).toMatchObject({
      ...policy?.spec.podSelector.matchLabels,
      [managedByLabel]: managedBy,
    });
  });
});
