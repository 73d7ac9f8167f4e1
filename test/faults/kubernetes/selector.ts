/** Selectors of labels and fields, as lists and watches take them. */
import type { KubeObject } from '../../../src/api/object.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';
import { badRequest } from './refusal.ts';

export type Selector = (object: KubeObject) => boolean;

const everything: Selector = () => true;

const termShape = /^([^\s!=(),]+)\s*(?:(==?|!=)\s*([^\s()]*)|\s(in|notin)\s*\(([^)]*)\))?$/;

/** `a=b,c!=d,e in (f,g),h,!i`. Throws a 400 on what it does not understand. */
export function labelSelector(text: string | undefined): Selector {
  if (text === undefined || text === '') return everything;
  const terms = text.split(/,(?![^(]*\))/).map((term) => labelTerm(term.trim()));
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return terms.every((holds) => holds(labels));
  };
}

type Labels = Readonly<Record<string, string>>;

function labelTerm(term: string): (labels: Labels) => boolean {
  if (term.startsWith('!')) return (labels) => labels[term.slice(1)] === undefined;
  const match = termShape.exec(term);
  if (match === null) throw badRequest(`unable to parse requirement: ${term}`);
  const [, key = '', operator, value = '', word, list = ''] = match;
  const values = word === undefined ? [value] : list.split(',').map((item) => item.trim());
  if (operator === '!=' || word === 'notin') return (labels) => !values.includes(labels[key] ?? '\0');
  if (operator !== undefined || word === 'in') return (labels) => values.includes(labels[key] ?? '\0');
  return (labels) => labels[key] !== undefined;
}

/** `metadata.name=a,spec.nodeName=b`. */
export function fieldSelector(text: string | undefined): Selector {
  if (text === undefined || text === '') return everything;
  const terms = text.split(',').map((term) => {
    const match = /^([\w.]+)(==?|!=)(.*)$/.exec(term.trim());
    if (match === null) throw badRequest(`invalid selector: ${term}`);
    const [, path = '', operator, value = ''] = match;
    return { path: path.split('.'), negated: operator === '!=', value };
  });
  return (object) =>
    terms.every(({ path, negated, value }) => {
      const found = path.reduce<unknown>((at, key) => fieldsIn(at)[key], object);
      return (String(found ?? '') === value) !== negated;
    });
}

/** The selector of an object: `matchLabels` and `matchExpressions`. Empty: everything. */
export function matchesSelector(selector: Fields, labels: Labels): boolean {
  for (const [key, value] of Object.entries(fieldsIn(selector.matchLabels))) if (labels[key] !== value) return false;
  return itemsIn(selector.matchExpressions).every(({ key, operator, values }) => {
    const value = labels[String(key)];
    const listed = Array.isArray(values) && value !== undefined && values.includes(value);
    switch (operator) {
      case 'In':
        return listed;
      case 'NotIn':
        return !listed;
      case 'Exists':
        return value !== undefined;
      default:
        return value === undefined;
    }
  });
}
