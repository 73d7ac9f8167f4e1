/** The status of clusters for people: a line each, or all that one of them says about itself. */
import type { Cluster } from '../api/cluster.ts';
import type { Condition } from '../api/condition.ts';
import { isObserved } from '../api/observed-generation.ts';
import { kindWord } from './kinds.ts';
import { ageText, tableText } from './table.ts';

/** `all` shows the namespace too. */
export function statusTable(clusters: readonly Cluster[], now: number, all: boolean): string {
  const headings = ['NAME', 'PHASE', 'READY', 'MEMBERS', 'PRIMARY', 'VERSION', 'AGE', 'NOTE'];
  const rows = clusters.map((cluster) => {
    const { metadata, status = {} } = cluster;
    const row = [
      `${kindWord(cluster.kind)}/${metadata.name}`,
      status.phase ?? 'Unseen',
      readiness(cluster)?.status ?? 'Unknown',
      members(cluster),
      status.primary ?? '',
      status.version ?? '',
      ageText(metadata.creationTimestamp, now),
      note(cluster),
    ];
    return all ? [metadata.namespace, ...row] : row;
  });
  return tableText(all ? ['NAMESPACE', ...headings] : headings, rows);
}

export function statusDetail(cluster: Cluster, now: number): string {
  const { metadata, status = {} } = cluster;
  const facts: [string, string | undefined][] = [
    ['phase', status.phase ?? 'no controller has looked at it yet'],
    ['primary', status.primary],
    ['version', status.version],
    ['members', members(cluster)],
    ['age', ageText(metadata.creationTimestamp, now)],
    ['spec', stale(cluster) ? 'changed since the controller last looked' : undefined],
    ['next', status.plan?.next],
    ['waits for', status.plan?.waitingFor],
    ['blocked by', status.plan?.blockedBy],
  ];
  const said = facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value] as const]));
  return [
    `${cluster.kind} ${metadata.namespace}/${metadata.name}\n`,
    ...said.map(([name, value]) => `  ${name.padEnd(12)}${value}\n`),
    ...section('conditions', conditionTable(status.conditions ?? [], now)),
    ...section('members', memberTable(cluster)),
    ...section('connection', connectionTable(cluster)),
  ].join('');
}

function section(title: string, table: string): string[] {
  return table === '' ? [] : [`\n${title}\n`, table];
}

function conditionTable(conditions: readonly Condition[], now: number): string {
  if (conditions.length === 0) return '';
  const rows = conditions.map(({ type, status, lastTransitionTime, reason, message }) => [
    type,
    status,
    ageText(lastTransitionTime, now),
    reason,
    message,
  ]);
  return tableText(['TYPE', 'STATUS', 'SINCE', 'REASON', 'MESSAGE'], rows, '  ');
}

function memberTable({ status }: Cluster): string {
  const list = status?.members ?? [];
  if (list.length === 0) return '';
  const rows = list.map(({ name, role, ready, version, node, address }) => [
    name,
    role,
    ready ? 'yes' : 'no',
    version ?? '',
    node ?? '',
    address ?? '',
  ]);
  return tableText(['NAME', 'ROLE', 'READY', 'VERSION', 'NODE', 'ADDRESS'], rows, '  ');
}

/** Names inside the cluster, where every pod can use them. */
function connectionTable({ metadata, status }: Cluster): string {
  const connection = status?.connection;
  if (connection === undefined) return '';
  const rows = connection.services.map(({ role, host, port }) => [role, `${host}.${metadata.namespace}.svc:${port}`]);
  const secret = connection.secretName === undefined ? [] : [['password', `in Secret ${connection.secretName}`]];
  return tableText(['ROLE', 'ADDRESS'], [...rows, ...secret], '  ');
}

function readiness({ status }: Cluster): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

function members({ status }: Cluster): string {
  return status?.replicas === undefined ? '' : `${status.readyReplicas ?? 0}/${status.replicas}`;
}

function stale({ metadata, status }: Cluster): boolean {
  return isObserved(status) && metadata.generation !== undefined && status?.observedGeneration !== metadata.generation;
}

/** What keeps it from being ready; nothing while it is. */
function note(cluster: Cluster): string {
  const ready = readiness(cluster);
  if (ready === undefined || ready.status === 'True') return '';
  return cluster.status?.plan?.blockedBy ?? cluster.status?.plan?.waitingFor ?? ready.message;
}
