/** The whole app: CRDs, the operator, samples and their backups, each a file that is numbered in the order of application. */
import { App } from 'cdk8s';
import type { OperatorProps } from '../constructs/operator.ts';
import { BackupsChart } from './backups.ts';
import { CrdsChart } from './crds.ts';
import { OperatorChart } from './operator.ts';
import { SamplesChart } from './samples.ts';

export interface AppOptions {
  /** Default `dist`, or what CDK8S_OUTDIR says. */
  readonly outdir?: string;
  /** The files cannot know the namespaces of those who apply them, and the samples are in one of their own: default `watch` is all. */
  readonly operator?: OperatorProps;
}

export function createApp(options: AppOptions = {}): App {
  const { outdir, operator = {} } = options;
  // Argo CD applies every file of a directory: there is to be no metadata among the manifests.
  const app = new App({ recordConstructMetadata: false, ...(outdir === undefined ? {} : { outdir }) });
  const crds = new CrdsChart(app, 'crds');
  const controller = new OperatorChart(app, 'operator', { watch: { all: true }, ...operator });
  const samples = new SamplesChart(app, 'samples');
  controller.addDependency(crds);
  samples.addDependency(controller);
  new BackupsChart(app, 'backups').addDependency(samples);
  return app;
}
