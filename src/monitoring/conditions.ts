/** Alerts on the conditions of custom resources, as kube-state-metrics exports them; and their panels, for each kind. */
import { type Alert, conditions, type MonitoringPart, type Panel, theResource } from '../engine/monitoring.ts';

/** One series for each resource, also while its reason changes: an alert must not start anew with each reason. */
const byResource = 'namespace, name, customresource_kind';
const backups = 'Backup|BackupSchedule';
const theKind = `{{ $labels.customresource_kind }} ${theResource}`;
const condition = (matchers: string): string => `max by (${byResource}) (${conditions(matchers)})`;

const describe = 'Read the message: `kubectl describe KIND NAME`, or `clusterwright status KIND/NAME`.';
const reasons = 'Look for the reason in [the list of reasons](../monitoring.md#reasons-that-need-a-person).';

/** Reasons of `Ready` with which no client can write. */
const outOfService = [
  'DataLost',
  'NoPrimary',
  'PrimaryContested',
  'PrimaryUnknown',
  'PrimaryVolumeLost',
  'QuorumLost',
  'StateLost',
  'VolumesLost',
];

const alerts: readonly Alert[] = [
  {
    name: 'DatabaseUnavailable',
    expr: `${condition(`type="Ready", reason=~"${outOfService.join('|')}"`)} == 0`,
    for: '2m',
    severity: 'critical',
    summary: `${theKind} has no primary or no majority: clients cannot write.`,
    meaning: `Too few members are left to elect a primary or leader, or the operator does not know which has the newest data. The reason of \`Ready\` is one of: ${outOfService.map((reason) => `\`${reason}\``).join(', ')}.`,
    actions: [describe, 'Bring back the pods and nodes that the message names. Remove no volume.', reasons],
  },
  {
    name: 'DatabaseDegraded',
    expr: `${condition(`type="Degraded", customresource_kind!~"${backups}"`)} == 1`,
    for: '5m',
    severity: 'warning',
    summary: `${theKind} is degraded.`,
    meaning:
      'A member is missing, or the archive or a last backup fails. The data is less safe than the spec asks for.',
    actions: [describe, reasons],
  },
  {
    name: 'DatabaseNotReady',
    expr: `${condition(`type="Ready", customresource_kind!~"${backups}"`)} == 0`,
    for: '15m',
    severity: 'warning',
    summary: `${theKind} has not been ready for 15 minutes.`,
    meaning:
      'Clients may not be served, or the cluster differs from its spec, for example because a change does not finish.',
    actions: [
      describe,
      reasons,
      'If the reason is progress, such as `Restarting` or `Importing`, look at `status.plan`.',
    ],
  },
  {
    name: 'DatabaseWaitsForAPerson',
    expr: `${condition(`type="Stalled", customresource_kind!~"${backups}"`)} == 1`,
    for: '2m',
    severity: 'warning',
    summary: `${theKind} is stalled: the operator waits for a person.`,
    meaning:
      'The operator cannot reach the spec before someone acts. Some work continues; the page of monitoring says which.',
    actions: [describe, reasons],
  },
  {
    name: 'BackupFailed',
    expr: `${condition('type="Stalled", customresource_kind="Backup"')} == 1`,
    for: '2m',
    severity: 'warning',
    summary: `Backup ${theResource} has failed.`,
    meaning:
      'A Backup has failed for good, or waits for a person. If a schedule made it, the schedule tries again at its next time.',
    actions: [describe, 'Correct the cause, create another Backup, and delete this one. The alert ends with it.'],
  },
  {
    name: 'BackupScheduleDegraded',
    expr: `${condition('type=~"Degraded|Stalled", customresource_kind="BackupSchedule"')} == 1`,
    for: '5m',
    severity: 'warning',
    summary: `BackupSchedule ${theResource} does not back up.`,
    meaning:
      'The last run has failed, a run is overdue, data loss is suspected in the last backup, or the schedule waits for a person.',
    actions: [
      describe,
      'With the reason `SuddenLoss`, look at the database first: [data loss is suspected](../backups.md#a-backup-that-holds-suddenly-little).',
    ],
  },
];

export const conditionMonitoring: MonitoringPart = {
  name: 'conditions',
  title: 'Conditions',
  requires:
    'These alerts need [kube-state-metrics](../monitoring.md#conditions-as-metrics), which exports the conditions of every kind.',
  alerts,
  panels: [],
};

/** For the dashboard of a kind. The variables select by namespace and name. */
export function conditionPanels(kind: string): readonly Panel[] {
  const ofKind = `customresource_kind="${kind}", namespace=~"$namespace", name=~"$cluster"`;
  const panel = (type: string, description: string): Panel => ({
    title: type,
    unit: 'short',
    description,
    queries: [
      {
        expr: `max by (namespace, name, reason) (${conditions(`${ofKind}, type="${type}"`)})`,
        legend: '{{namespace}}/{{name}} {{reason}}',
      },
    ],
  });
  return [
    panel('Ready', '1: the cluster serves clients and equals its spec. 0: it does not; the reason says why.'),
    panel('Degraded', '1: a member is missing, or a backup has failed.'),
    panel('Stalled', '1: the operator waits for a person.'),
  ];
}
