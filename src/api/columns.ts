/** The columns of `kubectl get` that mean the same for every kind. */
import type { PrinterColumn } from './kind.ts';

export const stateColumns: readonly PrinterColumn[] = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Status of the condition Ready.',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
    description: 'Reason of the condition Ready.',
  },
];

export const lifeColumns: readonly PrinterColumn[] = [
  { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Phase of the cluster.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since creation.' },
];

export const wideColumns: readonly PrinterColumn[] = [
  {
    name: 'Storage',
    type: 'string',
    jsonPath: '.spec.storage.size',
    description: 'Requested size of each volume.',
    priority: 1,
  },
  {
    name: 'Paused',
    type: 'boolean',
    jsonPath: '.spec.paused',
    description: 'Whether changes by the operator are paused.',
    priority: 1,
  },
  { name: 'Next', type: 'string', jsonPath: '.status.plan.next', description: 'Next step of the plan.', priority: 1 },
  {
    name: 'Waiting',
    type: 'string',
    jsonPath: '.status.plan.waitingFor',
    description: 'What the plan waits for.',
    priority: 1,
  },
];
