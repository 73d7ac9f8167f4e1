/** Applications of Argo CD: one of each environment, which contains one of each part. */
import { ApiObject, type Chart } from 'cdk8s';
import type { Environment } from './environments.ts';
import { type Part, parts } from './parts.ts';
import { branch, repository } from './repository.ts';

const namespace = 'argocd';

interface Application {
  readonly name: string;
  readonly path: string;
  readonly server: string;
  readonly prune: boolean;
  readonly syncWave?: number;
}

/** Applied once, by a person. */
export function rootApplication(chart: Chart, { name }: Environment): void {
  // It contains Applications, and those are in the Kubernetes cluster of Argo CD.
  const server = 'https://kubernetes.default.svc';
  application(chart, { name, path: `deploy/argocd/${name}`, server, prune: true });
}

export function partApplications(chart: Chart, environment: Environment): void {
  for (const [syncWave, part] of parts.entries()) application(chart, ofPart(environment, part, syncWave));
}

function ofPart({ name, server }: Environment, part: Part, syncWave: number): Application {
  return { name: `${name}-${part.name}`, path: `deploy/${name}/${part.name}`, server, prune: part.prune, syncWave };
}

function application(chart: Chart, { name, path, server, prune, syncWave }: Application): void {
  new ApiObject(chart, name, {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: {
      name,
      namespace,
      ...(syncWave === undefined ? {} : { annotations: { 'argocd.argoproj.io/sync-wave': String(syncWave) } }),
      // No finalizer: an Application that is deleted leaves its objects.
    },
    spec: {
      project: 'default',
      source: { repoURL: repository, targetRevision: branch, path },
      destination: { server },
      syncPolicy: {
        automated: { prune, selfHeal: true },
        syncOptions: [
          // A CRD is too long for the annotation of client-side apply.
          'ServerSideApply=true',
          // A `deletionPolicy: Snapshot` backs up a cluster whose pods still run.
          'PrunePropagationPolicy=background',
        ],
        // Unless Argo CD waits for Applications of an earlier wave, the API server may not know a kind yet.
        retry: { limit: 10, backoff: { duration: '10s', factor: 2, maxDuration: '3m' } },
      },
    },
  });
}
