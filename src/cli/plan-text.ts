/** A plan for people: what comes, what changes and how, what goes, what is asked of the database, and what is waited for. */
import { displayName } from '../api/object.ts';
import { hasOtherTemplate, isFingerprint } from '../plan/difference.ts';
import type { FieldChange, Outcome, Plan, Step } from '../plan/plan.ts';
import { lineDiff } from './line-diff.ts';
import type { Preview } from './preview.ts';
import { generatedText } from './render.ts';

export function planText({ cluster, spec, plan, follows, warnings = [] }: Preview): string {
  const { steps, outcome } = plan;
  const sections: [string, string[]][] = [
    ['spec', spec.flatMap((change) => changeLines({ ...change, path: change.path.replace(/^spec\./, '') }))],
    ['create', steps.flatMap(createLines)],
    ['update', steps.flatMap(updateLines)],
    ['resize in place', steps.flatMap(resizeLines)],
    ['certificates to issue', steps.flatMap(issueLines)],
    ['delete', steps.flatMap(deleteLines)],
    ['actions', steps.flatMap((step) => (step.type === 'act' ? [step.summary] : []))],
    ['afterwards', [...follows]],
    ['warnings', [...warnings]],
  ];
  const filled = sections.filter(([, lines]) => lines.length > 0);
  const title = `${cluster.kind} ${cluster.metadata.namespace}/${cluster.metadata.name}`;
  return [
    `${title}: ${summary(plan, spec, follows)}`,
    ...filled.flatMap(([heading, lines]) => [`  ${heading}`, ...lines.map((line) => `    ${line}`)]),
    ...outcomeLines(outcome),
    '',
  ].join('\n');
}

/** `2 to create, 1 to update`; `nothing to do`, or `nothing yet` where something is waited for. */
function summary({ steps, outcome }: Plan, spec: readonly FieldChange[], follows: readonly string[]): string {
  const count = (...types: readonly Step['type'][]): number => steps.filter(({ type }) => types.includes(type)).length;
  const counts: [number, string][] = [
    [count('create'), 'to create'],
    [count('apply', 'patch'), 'to update'],
    [count('resize'), 'to resize in place'],
    [count('issue'), 'to issue'],
    [count('delete'), 'to delete'],
    [count('act'), count('act') === 1 ? 'action' : 'actions'],
  ];
  const said = counts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  if (said.length > 0) return said.join(', ');
  if (spec.length > 0) return 'only its own spec changes';
  return follows.length > 0 || outcome.state !== 'settled' ? 'nothing yet' : 'nothing to do';
}

function createLines(step: Step): string[] {
  if (step.type !== 'create') return [];
  const { object, generate } = step;
  const kept = generate?.some(({ isOursAlone }) => isOursAlone === true)
    ? 'an existing Secret of the operator is kept'
    : 'an existing Secret is kept';
  const secret = generate === undefined ? '' : `: ${generatedText(generate)}; ${kept}`;
  return [`${displayName(object)}${secret}`];
}

function updateLines(step: Step): string[] {
  switch (step.type) {
    case 'apply':
      return [displayName(step.object), ...appliedLines(step.changes).map(indented)];
    case 'patch':
      return [`${step.ref.resource.kind}/${step.ref.name}`, ...step.changes.flatMap(changeLines).map(indented)];
    default:
      return [];
  }
}

function resizeLines(step: Step): string[] {
  if (step.type !== 'resize') return [];
  return [`${step.ref.resource.kind}/${step.ref.name}`, ...step.changes.flatMap(changeLines).map(indented)];
}

function issueLines(step: Step): string[] {
  return step.type === 'issue' ? [`${displayName(step.object)}: ${step.reason}`] : [];
}

function deleteLines(step: Step): string[] {
  return step.type === 'delete' ? [`${step.ref.resource.kind}/${step.ref.name}: ${step.reason}`] : [];
}

/** The fingerprint moves with every change; alone it says that a field is no longer set. */
function appliedLines(changes: readonly FieldChange[]): string[] {
  const others = changes.filter((change) => !isFingerprint(change));
  if (others.length > 0) return others.flatMap(changeLines);
  return [`${hasOtherTemplate(changes) ? 'spec.template: ' : ''}fields that are not set any more are removed`];
}

function changeLines({ path, from, to }: FieldChange): string[] {
  if (typeof to === 'string' && /\n/.test(to)) {
    return [`${path}:`, ...lineDiff(typeof from === 'string' ? from : '', to).map(indented)];
  }
  return [`${path}: ${valueText(from)} -> ${valueText(to)}`];
}

/** Longest value that is shown whole; `-o json` shows all of them. */
const longest = 100;

function valueText(value: unknown): string {
  if (value === undefined) return '(none)';
  const text = typeof value === 'string' && /^[\w./:@%+-]+$/.test(value) ? value : JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

function indented(line: string): string {
  return `  ${line}`;
}

function outcomeLines(outcome: Outcome): string[] {
  switch (outcome.state) {
    case 'settled':
      return [];
    case 'wait':
      return [`  waits for: ${outcome.message} (${outcome.reason})`];
    case 'blocked':
      return [`  blocked by: ${outcome.message} (${outcome.reason})`];
    default:
      return outcome satisfies never;
  }
}
