/**
 * The operator's objects as a template: synthesized once for each combination of the values that decide which objects
 * and fields there are, and merged.
 */
import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { Operator, type OperatorProps } from '../../constructs/operator.ts';
import { operatorCheck } from '../../constructs/operator-check.ts';
import { choose } from './choice.ts';
import {
  checkOptions,
  type Json,
  namedNamespaces,
  operatorProps,
  ownRegistry,
  someResources,
  toTemplate,
} from './placeholders.ts';
import type { Item, Template } from './template.ts';
import { writeObject } from './write.ts';

interface Switch {
  readonly condition: string;
  readonly on: OperatorProps;
  readonly off: OperatorProps;
}

const switches: readonly Switch[] = [
  { condition: '$.Values.watch.all', on: { watch: { all: true } }, off: { watch: namedNamespaces } },
  { condition: '$.Values.extendUserRoles', on: { extendUserRoles: true }, off: { extendUserRoles: false } },
  { condition: '$.Values.imageRegistry', on: ownRegistry, off: {} },
  { condition: '$.Values.resourceSelector', on: someResources, off: {} },
  { condition: '$.Values.dryRuns', on: { dryRuns: true }, off: { dryRuns: false } },
];

export function operatorTemplate(): string {
  return written(combined(operatorProps, switches));
}

/** What `helm test` runs. */
export function checkTemplate(): string {
  return written(synthesized((scope) => operatorCheck(scope, checkOptions)));
}

function combined(props: OperatorProps, [first, ...rest]: readonly Switch[]): Template {
  if (first === undefined) return synthesized((scope) => void new Operator(scope, 'operator', props));
  const [on, off] = [first.on, first.off].map((each) => combined({ ...props, ...each }, rest));
  if (on === undefined || off === undefined) throw new Error('unreachable');
  return choose(first.condition, on, off);
}

/** Resolved in memory: nothing is written. */
export function objectsOf(build: (scope: Construct) => void): readonly Json[] {
  const chart = new Chart(new App({ recordConstructMetadata: false }), 'chart', { disableResourceNameHashes: true });
  build(chart);
  return chart.toJson() as readonly Json[];
}

function synthesized(build: (scope: Construct) => void): Template {
  return toTemplate(objectsOf(build));
}

function written(template: Template): string {
  const items: readonly Item[] = template.type === 'list' ? template.items : [];
  return `${items.map(writeObject).join('\n')}\n`;
}
