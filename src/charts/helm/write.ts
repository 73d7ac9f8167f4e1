/** The text of templates. Every action stands on the root (`$`), so that it means the same within `with` and `range`. */
import { stringify } from 'yaml';
import type { Entry, Guard, Item, Scalar, Template } from './template.ts';

/** As a document of a stream; a guard includes its separator. */
export function writeObject(item: Item): string {
  return within(item.guards, 0, ['---', ...block(item.template, 0)]).join('\n');
}

function block(template: Template, depth: number): string[] {
  switch (template.type) {
    case 'map':
      return [
        ...template.entries.flatMap((entry) => within(entry.guards, depth, writeEntry(entry, depth))),
        ...(template.others === undefined ? [] : otherEntries(template.others, template.entries, depth)),
      ];
    case 'list':
      return template.items.flatMap((item) => within(item.guards, depth, writeItem(item.template, depth)));
    case 'scalar':
      return [`${pad(depth)}${scalar(template.value)}`];
    case 'action':
      return [`${pad(depth)}${template.text}`];
    case 'value':
      throw new Error(`the value ${template.value} is of no field`);
  }
}

function writeEntry({ key, template }: Entry, depth: number): string[] {
  const name = `${pad(depth)}${scalar(key)}:`;
  switch (template.type) {
    case 'scalar':
      return [`${name} ${scalar(template.value)}`];
    case 'action':
      return [`${name} ${template.text}`];
    case 'value':
      return ifThere(template.value, depth, [`${name} ${given(template.form, depth + 1)}`]);
    case 'map':
      if (template.entries.length > 0) return [name, ...block(template, depth + 1)];
      if (template.others === undefined) return [`${name} {}`];
      return ifThere(template.others, depth, [`${name} ${given('toYaml', depth + 1)}`]);
    case 'list':
      return template.items.length === 0 ? [`${name} []`] : [name, ...block(template, depth + 1)];
  }
}

/** The first line of an item carries the dash. A guard there would be cut in two, and no object of ours has one. */
function writeItem(template: Template, depth: number): string[] {
  const lines = block(template, depth + 1);
  const [first = '', ...rest] = lines;
  if (first.trimStart().startsWith('{{-')) throw new Error(`an item begins with a condition: ${first}`);
  return [`${pad(depth)}- ${first.trimStart()}`, ...rest];
}

function otherEntries(value: string, entries: readonly Entry[], depth: number): string[] {
  const taken = entries.map(({ key }) => JSON.stringify(key)).join(' ');
  return [
    `${pad(depth)}{{- with omit ${value} ${taken} }}`,
    `${pad(depth)}{{- toYaml . | nindent ${2 * depth} }}`,
    `${pad(depth)}{{- end }}`,
  ];
}

function ifThere(value: string, depth: number, lines: readonly string[]): string[] {
  return [`${pad(depth)}{{- with ${value} }}`, ...lines, `${pad(depth)}{{- end }}`];
}

function given(form: 'toYaml' | 'quote', depth: number): string {
  return form === 'quote' ? '{{ quote . }}' : `{{- toYaml . | nindent ${2 * depth} }}`;
}

function within([outer, ...inner]: readonly Guard[], depth: number, lines: string[]): string[] {
  if (outer === undefined) return lines;
  return [`${pad(depth)}${opening(outer)}`, ...within(inner, depth, lines), `${pad(depth)}{{- end }}`];
}

function opening(guard: Guard): string {
  if (guard.type === 'range') return `{{- range ${guard.variable} := ${guard.over} }}`;
  return guard.holds ? `{{- if ${guard.condition} }}` : `{{- if not ${guard.condition} }}`;
}

const pad = (depth: number): string => '  '.repeat(depth);

/** Helm reads YAML 1.1, in which `on` is a boolean. Braces of a text are not those of an action. */
export function scalar(value: Scalar): string {
  if (typeof value !== 'string') return String(value);
  const text = value.includes('\n')
    ? JSON.stringify(value)
    : stringify(value, { version: '1.1', lineWidth: 0, defaultStringType: 'PLAIN' }).trimEnd();
  return text.replaceAll('{{', '{{ "{{" }}');
}
