/** One mistake of an engine, and the checks that find it. */
import type { EngineFormat } from '../../src/backup/engine-data.ts';
import type { EngineSample } from '../../src/testing/sample.ts';
import type { Toy } from './toy-engine.ts';

export interface Mistake {
  readonly story: string;
  readonly engine?: Partial<Toy>;
  readonly sample?: Partial<EngineSample>;
  readonly isWithoutSample?: boolean;
  readonly driver?: Partial<EngineFormat>;
  /** Name of each check that fails, to words of its message. */
  readonly found: Readonly<Record<string, string>>;
}

/** Names of the checks. */
export const rules = {
  samples: 'there are samples, and each is a valid cluster of the kind with a UID',
  empty: 'an empty spec is valid',
  shape: 'the schema requires spec, without a default, and has a status',
  unmarked: 'the default of the status says that nobody has looked',
  backups: 'the kind offers no backup that cannot be taken',
  storage: 'a kind with spec.storage has storageRules',
  watched: 'managed resources are of kinds that the operator watches, Secrets are generated',
  verbs: 'permissions have every verb that the managed resources and the kind need',
  needless: 'permissions name only managed resources, pods, and claims if there are any',
  ports: 'the ports that the operator may connect to are container ports',
  same: 'managed resources depend only on the name, the UID and the spec of the cluster',
  names: 'each managed resource has a name of its own',
  labels: 'managed resources have the common labels and the namespace of the cluster',
  owners: 'managed resources are owned by the cluster, Secrets that are generated are not',
  selectors: 'selectors have only fixed labels, and select pods of this cluster',
  security: 'pods satisfy the restricted Pod Security Standard',
  defaults: 'what the API server adds to a managed resource is no difference',
  sets: 'StatefulSets have names by which their pods and volumes are found',
  onDelete: 'StatefulSets restart no pod by themselves',
  claims: 'claims have the name, the labels and the form of size by which they are found and grow',
  offline: 'offline, the plan creates every managed resource and does nothing else',
  settled: 'when all is well, nothing is planned and the cluster is Ready',
  status: 'the status does not contradict itself, and has what the kind promises',
  secrets: 'no secret is in managed resources, plan or status',
  dialled: 'it connects only to ports that the engine lists',
  silence: 'when nobody answers, the cluster is not Ready and nothing is deleted',
  source: 'the agent understands where a backup comes from',
  restore: 'a restore fills the first volume of a StatefulSet, and the agent understands where',
  drill: 'the spec of a drill is valid',
} as const;
