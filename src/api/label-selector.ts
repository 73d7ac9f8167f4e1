/** Label selectors in the syntax of Kubernetes: `tier=blue,env in (test,dev),!legacy`. */

const name = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const dnsLabel = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const key = `(?:${dnsLabel}(?:\\.${dnsLabel})*/)?${name}`;
const value = `(?:${name})?`;
const requirement = `(?:!\\s*${key}|${key}(?:\\s*(?:==?|!=)\\s*${value}|\\s+(?:in|notin)\\s*\\(\\s*${value}\\s*(?:,\\s*${value}\\s*)*\\))?)`;

export const labelSelectorPattern = `^\\s*${requirement}\\s*(?:,\\s*${requirement}\\s*)*$`;
export const labelSelectorMaxLength = 500;

type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  /** As it was written. */
  readonly text: string;
  matches(labels: Labels | undefined): boolean;
}

/** In words; undefined where it is one. */
export function labelSelectorFault(text: string): string | undefined {
  return text.length <= labelSelectorMaxLength && new RegExp(labelSelectorPattern).test(text)
    ? undefined
    : `must be a label selector, such as team=shop or team in (shop,bank), of at most ${labelSelectorMaxLength} characters`;
}

/** @throws where it is none */
export function labelSelector(text: string): LabelSelector {
  const fault = labelSelectorFault(text);
  if (fault !== undefined) throw new Error(`${JSON.stringify(text)} ${fault}`);
  const requirements = text.split(/,(?![^(]*\))/).map((each) => requirementOf(each.trim()));
  return { text, matches: (labels = {}) => requirements.every((holds) => holds(labels)) };
}

function requirementOf(text: string): (labels: Labels) => boolean {
  const [, set = '', isNot, list] = /^(\S+)\s+(not)?in\s*\((.*)\)$/.exec(text) ?? [];
  if (list !== undefined) {
    const values = list.split(',').map((each) => each.trim());
    return isOneOf(set, values, isNot === undefined);
  }
  const [, single = '', operator, wanted = ''] = /^([^=!\s]+)\s*(==?|!=)\s*(.*)$/.exec(text) ?? [];
  if (operator !== undefined) return isOneOf(single, [wanted], operator !== '!=');
  if (text.startsWith('!')) {
    const absent = text.slice(1).trim();
    return (labels) => labels[absent] === undefined;
  }
  return (labels) => labels[text] !== undefined;
}

/** A label that is absent has none of the values, so it is one of the others. */
function isOneOf(label: string, values: readonly string[], isWanted: boolean): (labels: Labels) => boolean {
  return ({ [label]: found }) => (found !== undefined && values.includes(found)) === isWanted;
}
