/**
 * The operator: everything it takes to run the controller in a cluster, with no right that it does not use.
 *
 * All names are fixed, so that an upgrade changes objects in place, and one operator fits a namespace. Whatever the
 * engines declare is what is granted and what the network lets through: nothing is listed twice.
 */
import type { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { imageRegistryFault, inRegistry } from '../api/image.ts';
import { labelSelectorFault } from '../api/label-selector.ts';
import { defaultRollouts, isRolloutLimit, mostRollouts } from '../api/rollout-limit.ts';
import { engines as ownEngines } from '../engines/index.ts';
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';
import { managedByLabel } from '../resources/metadata.ts';
import { addMetadata } from './extra-metadata.ts';
import { restrictedNamespace } from './namespace.ts';
import { operatorAccess, userRoles } from './operator-access.ts';
import { type OperatorResources, operatorDeployment } from './operator-deployment.ts';
import { operatorImage, operatorName, operatorNamespace } from './operator-identity.ts';
import { operatorNetwork } from './operator-network.ts';
import { ownPodsPolicy } from './own-pods-policy.ts';
import { plainObject } from './plain-object.ts';
import { podFieldsPolicy } from './pod-fields-policy.ts';
import { dnsLabel, type Watch, watchedNamespaces, watchFaults } from './watch.ts';

export const defaultApiServerPorts: readonly number[] = [443, 6443];

export interface OperatorProps {
  /** What its image serves. Default: the engines of this package. */
  readonly engines?: readonly DefinedEngine[];
  /** With a tag or a digest. Default `clusterwright:0.1.0`. */
  readonly image?: string;
  /**
   * The registry, with a path where it has one, of the operator's image and of databases, wherever neither `image` here nor `spec.image`
   * of a resource is set. Another one restarts the pods of databases. Default: the registry that each image is released at.
   */
  readonly imageRegistry?: string;
  /** Default `IfNotPresent`. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** Secrets in the operator's namespace. The Jobs of backups, in the namespaces of databases, do not have them. */
  readonly imagePullSecrets?: readonly Readonly<k8s.LocalObjectReference>[];
  /** One works, the others take over within 15 s when it is gone. Default 2. */
  readonly replicas?: number;
  /** Where the operator itself runs. Default `clusterwright-system`. */
  readonly namespace?: string;
  /** Default true: the namespace is part of the manifests, and enforces the restricted Pod Security Standard. */
  readonly createNamespace?: boolean;
  /**
   * Namespaces whose resources it serves, with a Role in each, or `{ all: true }`, with a ClusterRole: it may then read Secrets and create
   * pods in every namespace. Default: the operator's own namespace.
   */
  readonly watch?: Watch;
  /**
   * The label selector of the resources that it serves, in the syntax of Kubernetes: `tier=blue`. Others are left alone, with all that
   * belongs to them. No two operators may select the same resource. Default: all resources.
   */
  readonly resourceSelector?: string;
  /** Default true: the roles view and edit of Kubernetes cover our kinds. Needs a ClusterRole. */
  readonly extendUserRoles?: boolean;
  /** Default true: the operator may create pods, and has a pod of a new template judged by dry run. */
  readonly dryRuns?: boolean;
  /** How many clusters may restart pods for changes at the same time. Default 1. */
  readonly maxConcurrentRollouts?: number;
  /** Ports that the API server may be behind. Default 443 and 6443. */
  readonly apiServerPorts?: readonly number[];
  /** What each replica asks for, and may take. */
  readonly resources?: OperatorResources;
  /** Default `info`. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Labels that a node must have. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Readonly<k8s.Toleration>[];
  readonly priorityClassName?: string;
  /** On every object and on the operator's pods. Those that the operator itself has stay as they are. */
  readonly labels?: Readonly<Record<string, string>>;
  /** On every object and on the operator's pods. Those that the operator itself has stay as they are. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * What the names of objects outside of the operator's own namespace begin with. Two operators in a cluster need two. Default
   * `clusterwright`, and in another namespace than `clusterwright-system`, `clusterwright-NAMESPACE`.
   */
  readonly clusterScopedName?: string;
}

export class Operator extends Construct {
  constructor(scope: Construct, id: string, props: OperatorProps = {}) {
    super(scope, id);
    const {
      engines = ownEngines,
      imageRegistry,
      resourceSelector,
      image = inRegistry(operatorImage, imageRegistry),
      imagePullPolicy = 'IfNotPresent',
      replicas = 2,
      namespace = operatorNamespace,
      createNamespace = true,
      watch = { namespaces: [namespace] },
      extendUserRoles = true,
      dryRuns = true,
      maxConcurrentRollouts = defaultRollouts,
      apiServerPorts = defaultApiServerPorts,
      resources = {},
      logLevel = 'info',
      labels = {},
      annotations = {},
      clusterScopedName = namespace === operatorNamespace ? operatorName : `${operatorName}-${namespace}`,
    } = props;
    const { imagePullSecrets = [], nodeSelector = {}, tolerations = [], priorityClassName } = props;
    const namespaces = watchedNamespaces(watch);
    this.node.addValidation({ validate: () => faultsOf(props, watch, replicas, clusterScopedName) });

    if (createNamespace) {
      plainObject(this, 'namespace', restrictedNamespace(namespace, { 'argocd.argoproj.io/sync-wave': '-2' }));
    }
    const handlers = handlersOf(engines);
    const account = operatorAccess(this, { namespace, clusterScopedName, watch, handlers, dryRuns });
    if (extendUserRoles) userRoles(this, clusterScopedName, handlers);
    operatorDeployment(this, {
      account,
      ...{ namespace, image, imageRegistry, imagePullPolicy, imagePullSecrets, replicas, namespaces },
      ...{ resourceSelector, logLevel, dryRuns, maxConcurrentRollouts, resources },
      ...{ nodeSelector, tolerations, priorityClassName, labels, annotations },
    });
    ownPodsPolicy(this, clusterScopedName, handlers);
    podFieldsPolicy(this, clusterScopedName, handlers);
    operatorNetwork(this, { namespace, handlers, apiServerPorts });
    addMetadata(this, { labels, annotations });
  }
}

function faultsOf(
  { labels = {}, imageRegistry, resourceSelector, maxConcurrentRollouts = defaultRollouts }: OperatorProps,
  watch: Watch,
  replicas: number,
  clusterScopedName: string,
): string[] {
  const faults = watchFaults(watch);
  if (!Number.isInteger(replicas) || replicas < 1) faults.push('replicas: must be at least 1');
  if (!isRolloutLimit(maxConcurrentRollouts)) faults.push(`maxConcurrentRollouts: must be from 1 to ${mostRollouts}`);
  if (!dnsLabel.test(clusterScopedName)) {
    faults.push('clusterScopedName: must be lower-case letters, digits and hyphens');
  }
  if (managedByLabel in labels) faults.push(`labels: ${managedByLabel} marks the objects of databases`);
  const registryFault = imageRegistry === undefined ? undefined : imageRegistryFault(imageRegistry);
  if (registryFault !== undefined) faults.push(`imageRegistry: ${registryFault}`);
  const selectorFault = resourceSelector === undefined ? undefined : labelSelectorFault(resourceSelector);
  if (selectorFault !== undefined) faults.push(`resourceSelector: ${selectorFault}`);
  return faults;
}
