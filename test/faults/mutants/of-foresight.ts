/** Defects by which something else is done than was shown. */
import type { Mutant } from './mutant.ts';

export const foresightMutants: readonly Mutant[] = [
  {
    id: 'made-otherwise',
    defect: 'the executor adds to an object what no plan has shown',
    edits: [
      {
        file: 'runtime/executor.ts',
        find: 'const filled = generated.length === 0 ? object : { ...object, stringData: values };',
        replace:
          "const filled = generated.length === 0 ? { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, 'example.com/by': 'executor' } } } : { ...object, stringData: values };",
      },
    ],
    scenarios: ['S1'],
    classes: ['F1'],
    oracle: 'O13',
  },
  {
    id: 'plan-without-finalizer',
    defect: 'the last write of a deletion, which lets the custom resource go, is in no plan',
    edits: [
      {
        file: 'cli/preview.ts',
        find: 'plan: { ...plan, steps: [...kept, ...plan.steps] }',
        replace: "plan: { ...plan, steps: [...kept, ...plan.steps.filter(({ type }) => type !== 'patch')] }",
      },
    ],
    scenarios: ['S11 delete'],
    classes: ['F1'],
    oracle: 'O13',
  },
  {
    id: 'plan-asks-nobody',
    defect: 'the plan that is printed rests on the API server alone, and what the processes are told is not in it',
    edits: [{ file: 'cli/observation.ts', find: "if (way === 'never')", replace: "if (way !== 'forward')" }],
    scenarios: ['S9 primary', 'etcd S3'],
    classes: ['F1'],
    oracle: 'O13',
  },
  {
    id: 'plan-of-few-children',
    defect: 'a plan that is printed sees one object of each kind only',
    edits: [
      {
        file: 'cli/live.ts',
        find: 'return objects.map(resource === pods ? podSummary : wholeObject);',
        replace: 'return objects.slice(0, 1).map(resource === pods ? podSummary : wholeObject);',
      },
    ],
    scenarios: ['S4'],
    classes: ['F1'],
    oracle: 'O13',
  },
  {
    id: 'act-behind-the-plan',
    defect: 'a look at a process changes it',
    edits: [
      {
        file: 'engines/redis/observe/observe.ts',
        find: "    connection.command('INFO'),\n    connection.command('CONFIG', 'GET', ...directives, ...asked,",
        replace:
          "    connection.command('CLIENT', 'UNPAUSE').then(() => connection.command('INFO')),\n    connection.command('CONFIG', 'GET', ...directives, ...asked,",
      },
    ],
    scenarios: ['S1'],
    classes: ['F1'],
    oracle: 'O13',
  },
  {
    id: 'step-left-out',
    defect: 'the last step of a plan is shown and never done',
    edits: [
      {
        file: 'runtime/executor.ts',
        find: 'for (const step of steps) {',
        replace: 'for (const step of steps.slice(0, Math.max(1, steps.length - 1))) {',
      },
    ],
    scenarios: ['S4', 'S2'],
    classes: ['F1'],
    oracle: 'O13',
  },
  {
    id: 'offline-forgets-a-service',
    defect: 'a plan made from a manifest alone shows one object less than a new cluster gets',
    edits: [
      {
        file: 'cli/preview.ts',
        find: 'const forecast = plan.steps.length > 0 || untold !== undefined',
        replace:
          'Object.assign(plan, { steps: plan.steps.slice(0, -1) });\n  const forecast = plan.steps.length > 0 || untold !== undefined',
      },
    ],
    scenarios: ['S1', 'etcd S1'],
    classes: ['F1'],
    oracle: 'O13',
  },
];
