/** The reference page of a kind, as Markdown: every field, default, bound and rule, read off the schema. */
import type { KindDefinition } from './kind.ts';
import { apiVersionOf } from './object.ts';
import type { StructuralSchema } from './schema.ts';

export interface ReferenceOptions {
  /** More about a field than its schema can say, by its path. */
  readonly note?: (path: string) => string | undefined;
  /** The least spec that is valid, as YAML; default the empty one. */
  readonly sample?: string;
}

interface Row {
  readonly path: string;
  readonly schema: StructuralSchema;
  readonly isRequired: boolean;
}

/** @param generator the command that makes the page */
export function referencePage(
  kind: KindDefinition,
  options: ReferenceOptions = {},
  generator = 'npm run generate',
): string {
  const { resource } = kind;
  const { spec, status } = kind.schema.properties ?? {};
  if (spec === undefined || status === undefined) throw new Error(`${resource.kind}: a schema has spec and status`);
  const name = kind.schema.properties?.metadata?.properties?.name;
  const specRows = rowsOf('spec', spec);
  const lines = [
    `# ${resource.kind}`,
    '',
    `<!-- Generated from the schema by \`${generator}\`. Do not edit. -->`,
    '',
    kind.description,
    '',
    '```yaml',
    `apiVersion: ${apiVersionOf(resource)}`,
    `kind: ${resource.kind}`,
    'metadata:',
    '  name: sample',
    ...(options.sample ?? 'spec: {}').trim().split('\n'),
    '```',
    '',
    `\`kubectl get ${[`${resource.plural}.${resource.group}`, ...kind.shortNames].join('`, `kubectl get ')}\`; all kinds: \`kubectl get clusterwright\`.`,
    ...(name?.maxLength === undefined
      ? []
      : ['', `The name has at most ${name.maxLength} characters and matches \`${name.pattern}\`.`]),
    '',
    '## Spec',
    '',
    '| Field | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...specRows.map((row) => {
      const note = options.note?.(row.path);
      return tableRow([
        code(row.path),
        typeOf(row.schema),
        row.isRequired ? 'required' : defaultOf(row.schema),
        [row.schema.description ?? '', ...(note === undefined ? [] : [note])].join(' '),
      ]);
    }),
    '',
    '## Rules',
    '',
    'Checked by the API server, at synth, by the CLI and by the controller. A rule on `oldSelf` is about changes.',
    '',
    '| Where | Rule | CEL |',
    '|---|---|---|',
    ...[{ path: 'spec', schema: spec }, ...specRows].flatMap(({ path, schema }) =>
      (schema['x-kubernetes-validations'] ?? []).map((rule) =>
        tableRow([code(`${path}${rule.fieldPath ?? ''}`), rule.message, code(rule.rule)]),
      ),
    ),
    '',
    '## Status',
    '',
    '| Field | Type | Meaning |',
    '|---|---|---|',
    ...rowsOf('status', status).map(({ path, schema }) =>
      tableRow([code(path), typeOf(schema), schema.description ?? '']),
    ),
    '',
    '## Columns of `kubectl get`',
    '',
    '| Column | Shown | Meaning |',
    '|---|---|---|',
    ...kind.printerColumns.map((column) =>
      tableRow([column.name, (column.priority ?? 0) === 0 ? 'always' : 'with `-o wide`', column.description]),
    ),
    ...fieldSelectors(kind),
    '',
  ];
  return lines.join('\n');
}

function fieldSelectors({ resource, selectableFields = [] }: KindDefinition): string[] {
  const [first] = selectableFields;
  if (first === undefined) return [];
  const fields = selectableFields.map((path) => code(path.slice(1)));
  return [
    '',
    '## Field selectors',
    '',
    `From Kubernetes 1.31 on, \`kubectl get ${resource.plural}.${resource.group} --field-selector\` selects by ${fields.join(', ')}.`,
  ];
}

/** Every field below a node, depth first, in the order of the schema. */
function rowsOf(path: string, schema: StructuralSchema): Row[] {
  const children = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => [
    { path: `${path}.${name}`, schema: child, isRequired: schema.required?.includes(name) === true },
    ...rowsOf(`${path}.${name}`, child),
  ]);
  return schema.items === undefined ? children : [...children, ...rowsOf(`${path}[]`, schema.items)];
}

function typeOf(schema: StructuralSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(', ');
  switch (schema.type) {
    case 'array':
      return `list of ${schema.items?.type ?? 'any'}, at most ${schema.maxItems}`;
    case 'object':
      return schema.additionalProperties === undefined ? 'object' : `map of ${schema.additionalProperties.type}`;
    case 'integer':
      return schema.minimum === undefined || schema.maximum === undefined
        ? 'integer'
        : `integer, ${schema.minimum} to ${schema.maximum}`;
    case 'string':
      // A long pattern says less than the description does.
      return schema.pattern === undefined || schema.pattern.length > 45 ? 'string' : `string, ${code(schema.pattern)}`;
    default:
      return schema.type ?? 'any';
  }
}

function defaultOf(schema: StructuralSchema): string {
  const { default: value } = schema;
  // The empty object only lets the defaults inside it apply.
  if (value === undefined || schema.type === 'object') return '';
  return code(Array.isArray(value) ? JSON.stringify(value) : String(value));
}

/** Two backticks let a backtick through; a table wants its bars escaped. */
function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
