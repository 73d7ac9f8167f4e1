/** The files of the chart, without Helm: `real-helm.test.ts` renders them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { helmChart } from '../../src/charts/helm/chart.ts';
import { choose } from '../../src/charts/helm/choice.ts';
import { toTemplate } from '../../src/charts/helm/placeholders.ts';
import { chartValues } from '../../src/charts/helm/values.ts';
import { scalar, writeObject } from '../../src/charts/helm/write.ts';
import { operatorImage } from '../../src/constructs/operator-identity.ts';

const directory = 'dist/helm/clusterwright';
const files = helmChart();
const templates = Object.entries(files).filter(([path]) => path.startsWith('templates/'));
const release = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string; description: string };

describe('the chart in dist/helm', () => {
  test('has the files that are committed; `npm run synth` writes them', () => {
    const committed = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const paths = committed.map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1));
    expect(paths.sort()).toEqual(Object.keys(files).sort());
    for (const path of paths) expect(readFileSync(join(directory, path), 'utf8')).toBe(files[path]);
  });

  test('has the version of the package, and runs its image', () => {
    const chart = parse(files['Chart.yaml'] ?? '') as Record<string, string>;
    expect(chart).toMatchObject({
      version: release.version,
      appVersion: release.version,
      description: release.description,
    });
    const { image } = parse(files['values.yaml'] ?? '') as { image: { repository: string } };
    expect(`${image.repository}:${chart.appVersion}`).toBe(operatorImage);
  });

  test('leaves no placeholder behind', () => {
    for (const [, content] of templates) expect(content).not.toMatch(/chart\.|chart-|90000\d/);
  });

  test('uses every value, and no other', () => {
    const used = templates.flatMap(([, content]) => [...content.matchAll(/\$\.Values\.([\w.]+)/g)].map(([, at]) => at));
    const known = chartValues.map(({ path }) => path.join('.'));
    // The image is taken apart by a helper.
    const parts = new Set(used.filter((path) => path !== 'image'));
    for (const part of ['repository', 'tag', 'digest']) {
      expect(files['templates/_helpers.tpl']).toContain(` .${part} `);
      parts.add(`image.${part}`);
    }
    expect([...parts].sort()).toEqual([...known].sort());
  });

  test('comes with values that its schema accepts and its README lists', () => {
    const values = parse(files['values.yaml'] ?? '') as object;
    const validate = new Ajv({ strict: false }).compile(JSON.parse(files['values.schema.json'] ?? '') as object);
    validate(values);
    expect(validate.errors).toBeNull();
    for (const { path } of chartValues) expect(files['README.md']).toContain(`| \`${path.join('.')}\` |`);
  });
});

describe('a template', () => {
  const item = (value: Parameters<typeof toTemplate>[0]) => ({ guards: [], template: toTemplate(value) });

  test('of two objects has once what both have', () => {
    const [a, b] = [
      { kind: 'A', list: [{ name: 'x', value: 1 }, 'p', 'q'], same: true, only: 'a' },
      { kind: 'A', list: [{ name: 'x', value: 1 }, 'q', 'r'], same: true },
    ].map((each) => toTemplate(each));
    if (a === undefined || b === undefined) throw new Error('unreachable');
    expect(writeObject({ guards: [], template: choose('$.Values.a', a, b) })).toBe(
      [
        ...['---', 'kind: A', 'list:', '  - name: x', '    value: 1'],
        ...['  {{- if $.Values.a }}', '  - p', '  {{- end }}', '  - q'],
        ...['  {{- if not $.Values.a }}', '  - r', '  {{- end }}', 'same: true'],
        ...['{{- if $.Values.a }}', 'only: a', '{{- end }}'],
      ].join('\n'),
    );
  });

  test.each([
    ['on', '"on"'],
    ['1e3', '"1e3"'],
    ['{{ .Values }}', `"{{ "{{" }} .Values }}"`],
    ['a: b', '"a: b"'],
    ['two\nlines', '"two\\nlines"'],
    ['plain text', 'plain text'],
  ])('has the text %j as %s', (text, written) => {
    expect(scalar(text)).toBe(written);
  });

  test('never begins an item of a list with a condition', () => {
    const [a, b] = [[{ a: 1, name: 'x' }], [{ name: 'x' }]].map((list) => toTemplate({ list }));
    if (a === undefined || b === undefined) throw new Error('unreachable');
    expect(() => writeObject({ guards: [], template: choose('$.Values.a', a, b) })).toThrow('begins with a condition');
    expect(writeObject(item({ list: [{ name: 'x' }] }))).toContain('- name: x');
  });
});
