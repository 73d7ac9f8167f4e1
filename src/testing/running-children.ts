/** The managed resources of a cluster as Kubernetes has them once every pod runs and is ready. */
import type { KubeObject } from '../api/object.ts';
import { fingerprinted } from '../plan/difference.ts';
import { type Desired, isFilled } from '../plan/objects.ts';
import { type Children, childrenOf } from '../resources/children.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';
import { claimTemplatesOf, podTemplateOf } from './sample.ts';
import { stored } from './stored-object.ts';

const revision = 'revision-1';

/**
 * With their StatefulSets' pods, which run the newest template, and bound claims. Pods have the labels of their template:
 * a label that the plan adds, such as a role, is to be added by `adjust`, which may change any object or, by returning
 * undefined, leave it out.
 */
export function runningChildren(
  desired: readonly Desired[],
  adjust: (object: KubeObject) => KubeObject | undefined = (object) => object,
): Children {
  const objects = desired
    .filter((each) => !isFilled(each))
    .flatMap(({ object }) => (object.kind === 'StatefulSet' ? runningSet(object) : [stored(fingerprinted(object))]));
  return childrenOf(objects.flatMap((object) => adjust(object) ?? []));
}

function runningSet(wanted: KubeObject): KubeObject[] {
  const set = stored(fingerprinted(wanted));
  const replicas = Number(fieldsIn(set.spec).replicas);
  const status = { observedGeneration: 1, replicas, readyReplicas: replicas, updateRevision: revision };
  const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
  return [{ ...set, status }, ...ordinals.flatMap((ordinal) => [podOf(set, ordinal), ...claimsOf(set, ordinal)])];
}

function podOf(set: KubeObject, ordinal: number): KubeObject {
  const name = `${set.metadata.name}-${ordinal}`;
  const { labels = {}, spec = {} } = podTemplateOf(set) ?? {};
  const { uid = '' } = set.metadata;
  return stored({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...inNamespace(set),
      labels: {
        ...(labels as Record<string, string>),
        'controller-revision-hash': revision,
        'statefulset.kubernetes.io/pod-name': name,
      },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: set.kind, name: set.metadata.name, uid, controller: true }],
    },
    spec: { nodeName: `node-${ordinal}`, ...spec },
    status: {
      phase: 'Running',
      podIP: `10.0.${octetOf(set.metadata.name)}.${ordinal + 1}`,
      conditions: [{ type: 'Ready', status: 'True' }],
      ...(spec.initContainers === undefined
        ? {}
        : { initContainerStatuses: itemsIn(spec.initContainers).map(runningStatus) }),
      containerStatuses: itemsIn(spec.containers).map(runningStatus),
    },
  });
}

function runningStatus({ name, image }: Fields): object {
  return { name, image, ready: true, started: true, restartCount: 0, state: { running: {} } };
}

function claimsOf(set: KubeObject, ordinal: number): KubeObject[] {
  return claimTemplatesOf(set).map((template) => {
    const { name, labels } = fieldsIn(template.metadata);
    const claim = fieldsIn(template.spec);
    return stored({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: `${name}-${set.metadata.name}-${ordinal}`,
        ...inNamespace(set),
        labels: fieldsIn(labels) as Record<string, string>,
      },
      spec: claim,
      status: { phase: 'Bound', capacity: { storage: capacityOf(claim) } },
    });
  });
}

const capacityOf = (claim: Fields): unknown => fieldsIn(fieldsIn(claim.resources).requests).storage;

const inNamespace = ({ metadata: { namespace } }: KubeObject): { namespace?: string } =>
  namespace === undefined ? {} : { namespace };

/** Pods of two StatefulSets have different addresses. */
const octetOf = (name: string): number => [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 251, 7);
