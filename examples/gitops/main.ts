/** Writes `deploy/`, which is committed: the GitOps tool applies it as it is. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart } from 'cdk8s';
import { partApplications, rootApplication } from './argo-cd.ts';
import { environments } from './environments.ts';
import { kustomizations } from './flux.ts';
import { parts } from './parts.ts';

// `cdk8s synth` says where the manifests go: `output` in cdk8s.yaml.
const deploy = process.env.CDK8S_OUTDIR ?? 'deploy';

// A manifest that is no longer written must not stay: the GitOps tool would continue to apply it. Other files, such as those
// of `flux bootstrap`, are not ours.
const before = existsSync(deploy) ? readdirSync(deploy, { recursive: true, encoding: 'utf8' }) : [];
for (const file of before) if (file.endsWith('.k8s.yaml')) rmSync(join(deploy, file));

/** Each folder is an app of its own, with one file. */
function write(folder: string, file: string, build: (chart: Chart) => void): void {
  const app = new App({ outdir: join(deploy, folder) });
  build(new Chart(app, file));
  app.synth();
}

for (const environment of environments) {
  for (const { name, build } of parts) write(join(environment.name, name), name, (chart) => build(chart, environment));
  write(join('argocd', environment.name), 'applications', (chart) => partApplications(chart, environment));
  write(join('flux', environment.name), 'kustomizations', (chart) => kustomizations(chart, environment));
}
write('argocd', 'root', (chart) => {
  for (const environment of environments) rootApplication(chart, environment);
});
