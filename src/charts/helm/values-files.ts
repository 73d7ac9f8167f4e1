/** Files made from the table of values. */
import { stringify } from 'yaml';
import { type ChartValue, chartValues } from './values.ts';

interface Group {
  readonly name: string;
  readonly value?: ChartValue;
  readonly groups: readonly Group[];
}

/** Values that begin with the same names are together, in the order of the table. */
function grouped(values: readonly ChartValue[], depth = 0): readonly Group[] {
  const names = [...new Set(values.map(({ path }) => path[depth] ?? ''))];
  return names.map((name) => {
    const within = values.filter(({ path }) => path[depth] === name);
    const value = within.find(({ path }) => path.length === depth + 1);
    return value === undefined ? { name, groups: grouped(within, depth + 1) } : { name, value, groups: [] };
  });
}

const tree = grouped(chartValues);

export function valuesYaml(): string {
  const head = '# Values of the chart clusterwright. README.md has them as a table, values.schema.json their types.';
  return `${[head, ...tree.map((group) => valueLines(group, 0).join('\n'))].join('\n\n')}\n`;
}

function valueLines({ name, value, groups }: Group, depth: number): string[] {
  const pad = '  '.repeat(depth);
  if (value === undefined) return [`${pad}${name}:`, ...groups.flatMap((group) => valueLines(group, depth + 1))];
  const comment = wrapped(value.description, 118 - pad.length).map((line) => `${pad}# ${line}`);
  const lines = stringify({ [name]: value.default }, { flow: false, collectionStyle: 'any', lineWidth: 0 } as object);
  return [
    ...comment,
    ...lines
      .trimEnd()
      .split('\n')
      .map((line) => `${pad}${line}`),
  ];
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

export function valuesSchema(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart clusterwright',
    ...groupSchema(tree),
  };
  // Helm gives `global` to every chart that is a dependency of another.
  const properties = { ...schema.properties, global: { type: 'object' } };
  return `${JSON.stringify({ ...schema, properties }, null, 2)}\n`;
}

function groupSchema(groups: readonly Group[]) {
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(groups.map((group) => [group.name, schemaOf(group)])) as Record<string, object>,
  };
}

function schemaOf({ value, groups }: Group): object {
  if (value === undefined) return groupSchema(groups);
  return { description: value.description, ...value.schema, default: value.default };
}

export function valuesTable(): string {
  const rows = chartValues.map(({ path, type, default: fallback, description }) => {
    const cells = [`\`${path.join('.')}\``, type, `\`${JSON.stringify(fallback)}\``, description];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| value | type | default | description |', '|---|---|---|---|', ...rows].join('\n');
}
