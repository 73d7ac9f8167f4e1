/** The columns of `kubectl get` that mean the same for every kind. */
import type { PrinterColumn } from './kind.ts';

export const stateColumns: readonly PrinterColumn[] = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether the cluster is as the spec wants it.',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Why it is ready or not.',
  },
];

export const lifeColumns: readonly PrinterColumn[] = [
  { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Where the cluster is in its life.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation.' },
];

export const wideColumns: readonly PrinterColumn[] = [
  { name: 'Storage', type: 'string', jsonPath: '.spec.storage.size', description: 'Size of a volume.', priority: 1 },
  { name: 'Paused', type: 'boolean', jsonPath: '.spec.paused', description: 'Changes are stopped.', priority: 1 },
  { name: 'Next', type: 'string', jsonPath: '.status.plan.next', description: 'The next step.', priority: 1 },
  {
    name: 'Waiting',
    type: 'string',
    jsonPath: '.status.plan.waitingFor',
    description: 'What the next step waits for.',
    priority: 1,
  },
];
