/**
 * The operator: everything it takes to run the controller in a cluster, with no right that it does not use.
 *
 * All names are fixed, so that an upgrade changes objects in place, and one operator fits a namespace. Whatever the
 * engines declare is what is granted and what the network lets through: nothing is listed twice.
 */
import { Construct } from 'constructs';
import { engines as ownEngines } from '../engines/index.ts';
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';
import { restrictedNamespace } from './namespace.ts';
import { operatorAccess, userRoles } from './operator-access.ts';
import { type OperatorResources, operatorDeployment } from './operator-deployment.ts';
import { operatorImage, operatorNamespace, type Watch } from './operator-identity.ts';
import { operatorNetwork } from './operator-network.ts';
import { ownPodsPolicy } from './own-pods-policy.ts';
import { plainObject } from './plain-object.ts';

export interface OperatorProps {
  /** What its image serves. Default: the engines of this package. */
  readonly engines?: readonly DefinedEngine[];
  /** Default `clusterwright:0.1.0`. */
  readonly image?: string;
  /** Default `IfNotPresent`. */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** One works, the others take over within 15 s when it is gone. Default 2. */
  readonly replicas?: number;
  /** Where the operator itself runs. Default `clusterwright-system`. */
  readonly namespace?: string;
  /** Default true: the namespace is part of the manifests, and enforces the restricted Pod Security Standard. */
  readonly createNamespace?: boolean;
  /** Default all namespaces. */
  readonly watch?: Watch;
  /** Default true: the roles view and edit of Kubernetes cover our kinds. Needs a ClusterRole. */
  readonly extendUserRoles?: boolean;
  /** Default true: the operator may create pods, and has a pod of a new template judged by dry run. */
  readonly dryRuns?: boolean;
  /** Ports that the API server may be behind. Default 443 and 6443. */
  readonly apiServerPorts?: readonly number[];
  /** What each replica asks for, and may take. */
  readonly resources?: OperatorResources;
  /** Default `info`. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
}

export class Operator extends Construct {
  constructor(scope: Construct, id: string, props: OperatorProps = {}) {
    super(scope, id);
    const {
      engines = ownEngines,
      image = operatorImage,
      imagePullPolicy = 'IfNotPresent',
      replicas = 2,
      namespace = operatorNamespace,
      createNamespace = true,
      watch = { all: true },
      extendUserRoles = true,
      dryRuns = true,
      apiServerPorts = [443, 6443],
      resources = {},
      logLevel = 'info',
    } = props;
    const namespaces = 'all' in watch ? [] : [...new Set(watch.namespaces)].sort();
    this.node.addValidation({ validate: () => faultsOf(watch, replicas) });

    if (createNamespace) {
      plainObject(this, 'namespace', restrictedNamespace(namespace, { 'argocd.argoproj.io/sync-wave': '-2' }));
    }
    const handlers = handlersOf(engines);
    operatorAccess(this, { namespace, watch, handlers, dryRuns });
    if (extendUserRoles) userRoles(this, handlers);
    operatorDeployment(this, { namespace, image, imagePullPolicy, replicas, namespaces, logLevel, dryRuns, resources });
    ownPodsPolicy(this, handlers);
    operatorNetwork(this, { namespace, handlers, apiServerPorts });
  }
}

function faultsOf(watch: Watch, replicas: number): string[] {
  const faults: string[] = [];
  if (!('all' in watch) && watch.namespaces.length === 0) {
    faults.push('watch.namespaces: must name a namespace; { all: true } watches all of them');
  }
  if (!Number.isInteger(replicas) || replicas < 1) faults.push('replicas: must be at least 1');
  return faults;
}
