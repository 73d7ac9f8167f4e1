/**
 * Objects without what two runs of the same scenario may differ in: identities, times, addresses, versions, and which of
 * several equal members is the primary. What is left is what a scenario promises.
 */

import type { KubeObject } from '../../../src/api/object.ts';
import { agentComponent, componentLabel } from '../../../src/resources/metadata.ts';
import { isCopy } from '../copies.ts';
import { isCluster } from './cluster.ts';

type Json = unknown;
type Fields = Readonly<Record<string, Json>>;

const record = (value: Json): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** Kinds that tell of a run rather than of its result. */
const untold: ReadonlySet<string> = new Set([
  'Event',
  'Lease',
  'EndpointSlice',
  'ControllerRevision',
  'Node',
  'PersistentVolume',
]);

const identities: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'observedGeneration',
  'lastTransitionTime',
  'startTime',
  'startedAt',
  'finishedAt',
  'containerID',
  'restartCount',
  'podIP',
  'podIPs',
  'hostIP',
  'hostIPs',
  'nodeName',
  'node',
  'volumeName',
  'clusterIP',
  'clusterIPs',
  'lastState',
  'collisionCount',
  'address',
  'primary',
  // How far an archive is, and since when.
  'end',
  'storedAt',
  'since',
]);

/** Labels and annotations that follow the primary, or the node that a volume happens to be on. */
const wandering: ReadonlySet<string> = new Set([
  'clusterwright.dev/role',
  'clusterwright.dev/primary-term',
  'clusterwright.dev/address',
  // The fingerprint covers the owner's UID.
  'clusterwright.dev/desired',
  'clusterwright.dev/task',
  'volume.kubernetes.io/selected-node',
  'pv.kubernetes.io/bind-completed',
  'pv.kubernetes.io/bound-by-controller',
  // The numbers of a cluster and its members follow from times and identities.
  'clusterwright.dev/etcd-member',
  'clusterwright.dev/retired',
  'clusterwright.dev/etcd-corrupt',
  'clusterwright.dev/postgres-system',
  // What Patroni keeps in its ConfigMaps, but for its configuration.
  ...[
    'initialize',
    'history',
    'leader',
    'acquireTime',
    'renewTime',
    'transitions',
    'optime',
    'failsafe',
    'sync_standby',
  ],
]);

function masked(value: Json, key: string): Json {
  if (Array.isArray(value)) return value.map((item) => masked(item, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !identities.has(name) && !wandering.has(name))
      .map(([name, child]): [string, Json] => [name, masked(child, name)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Who is primary is said once, of all members together. */
function ofStatus(status: Fields): Fields {
  const members = Array.isArray(status.members) ? status.members.map(record) : [];
  const roles = members.map(({ role }) => String(role)).sort();
  return { ...status, members: members.map(({ role: _, id: __, dataSize: ___, ...member }) => member), roles };
}

/**
 * Which members of an etcd or a PostgreSQL stay depends on who leads. Those that run are numbered anew in their order, and after them
 * those whose volumes alone are kept. Their token, which is the cluster's UID, is left out, and so are the revisions of
 * templates that have both in them. Other engines' objects have no such numbers.
 */
function renumbered(objects: readonly KubeObject[]): (text: string) => string {
  const numbered = ['EtcdCluster', 'PostgresCluster'];
  const { name: cluster, uid = '' } = objects.find(({ kind }) => numbered.includes(kind))?.metadata ?? {};
  if (cluster === undefined) return (text) => text;
  const member = new RegExp(`\\b${cluster}-(\\d+)(?!\\d)`, 'g');
  const numbersOf = (kind: string): number[] =>
    objects
      .filter((object) => object.kind === kind && !isCopy(object))
      .flatMap(({ metadata }) => [...metadata.name.matchAll(member)].map(([, number]) => Number(number)))
      .sort((a, b) => a - b);
  const places = [...new Set([...numbersOf('StatefulSet'), ...numbersOf('PersistentVolumeClaim')])];
  const rename = (_: string, number: string): string => `${cluster}-${places.indexOf(Number(number))}`;
  const revision = new RegExp(`\\b(${cluster}-\\d+)-[0-9a-f]{10}\\b`, 'g');
  return (text) => text.replace(revision, '$1-REVISION').replace(member, rename).replaceAll(uid, 'UID');
}

/** Made by a Job, or by a CronJob's clock: how many there were is chance, and what came of them is told elsewhere. */
function isOfJob({ kind, metadata }: KubeObject): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)?.kind;
  return (kind === 'Pod' && owner === 'Job') || (kind === 'Job' && owner === 'CronJob');
}

const conditionsOf = ({ status }: KubeObject, ...fields: readonly string[]): Json =>
  (Array.isArray(record(status).conditions) ? (record(status).conditions as Json[]) : [])
    .map((condition) => Object.fromEntries(fields.map((field) => [field, record(condition)[field]])))
    .sort((a, b) => (String(a.type) < String(b.type) ? -1 : 1));

/** What came of it, without what each backup has of its own. */
function ofBackups(object: KubeObject): Fields {
  const { phase, job } = record(object.status);
  return { phase, job, conditions: conditionsOf(object, 'type', 'status', 'reason') };
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Whom the agent asks are the members of the moment at which it was written. */
function ofTask(data: Json): Json {
  const tasks = Object.entries(record(data)).map(([name, text]): [string, Json] => {
    const task = record(JSON.parse(String(text)) as Json);
    const { members: _, ...source } = record(task.source);
    return [name, JSON.stringify({ ...task, source }).replace(uuid, 'UID')];
  });
  return Object.fromEntries(tasks);
}

/** Patroni says on its pod what it does. */
function withoutStatus({ metadata }: KubeObject): Fields {
  const { status: _, ...annotations } = metadata.annotations ?? {};
  return { ...metadata, annotations };
}

/** Patroni keeps its configuration as JSON in an annotation. The order of its fields follows from the order of the patches. */
function withReadConfig({ metadata }: KubeObject): Fields {
  const { config, ...annotations } = metadata.annotations ?? {};
  return config === undefined
    ? { ...metadata }
    : { ...metadata, annotations: { ...annotations, config: JSON.parse(config) } };
}

/** Of content and status, what does not tell of the run alone. */
function toldOf(object: KubeObject): Fields {
  const { data, status } = object as KubeObject & { readonly data?: Json };
  switch (object.kind) {
    // A generated password differs; that there is one does not.
    case 'Secret':
      return { data: Object.keys(record(data)) };
    case 'ConfigMap':
      return object.metadata.labels?.[componentLabel] === agentComponent
        ? { data: ofTask(data) }
        : { metadata: withReadConfig(object), data };
    case 'Pod':
      return { metadata: withoutStatus(object) };
    case 'Job':
      return { spec: undefined, conditions: conditionsOf(object, 'type', 'status', 'reason') };
    case 'CronJob':
      return {};
    case 'Backup':
    case 'BackupSchedule':
      return { status: ofBackups(object) };
    default:
      return isCluster(object) ? { data, status: ofStatus(record(status)) } : { data };
  }
}

/** `StatefulSet/db` to its masked content. */
export function maskedObjects(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const rename = renumbered(objects);
  const result = new Map<string, string>();
  for (const object of objects) {
    if (untold.has(object.kind) || isOfJob(object) || isCopy(object)) continue;
    const { status: _, data: __, ...rest } = object as KubeObject & { readonly data?: Json };
    const told = { ...rest, ...toldOf(object) };
    result.set(
      `${object.kind}/${rename(object.metadata.name)}`,
      rename(JSON.stringify(masked(told, ''), undefined, 1)),
    );
  }
  return result;
}

/** What differs, a line each, with the first lines that are not equal. */
export function differences(
  found: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
): readonly string[] {
  const result: string[] = [];
  for (const [name, text] of wanted) {
    const other = found.get(name);
    if (other === undefined) result.push(`${name} is missing`);
    else if (other !== text) result.push(`${name} differs: ${firstDifference(other, text)}`);
  }
  for (const name of found.keys()) if (!wanted.has(name)) result.push(`${name} is left over`);
  return result;
}

function firstDifference(found: string, wanted: string): string {
  const [a, b] = [found.split('\n'), wanted.split('\n')];
  const at = a.findIndex((line, n) => line !== b[n]);
  return `${(a[at] ?? 'nothing').trim()} instead of ${(b[at] ?? 'nothing').trim()}`;
}
