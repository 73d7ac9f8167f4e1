/**
 * Writes `dist/`: the manifests, the monitoring kit, the Helm chart, settings of Argo CD, a kustomization and a list of images, the same bytes
 * on every machine.
 */
import { join } from 'node:path';
import { createApp } from './charts/app.ts';
import { argocdFiles } from './charts/argocd/files.ts';
import { helmChart } from './charts/helm/chart.ts';
import { imageList } from './charts/images.ts';
import { kustomization } from './charts/kustomization.ts';
import { createMonitoringApp } from './charts/monitoring.ts';
import { writeFiles } from './system/write-files.ts';

const app = createApp();
app.synth();
createMonitoringApp(join(app.outdir, 'monitoring')).synth();
writeFiles(join(app.outdir, 'helm', 'clusterwright'), helmChart());
writeFiles(join(app.outdir, 'argocd'), argocdFiles());
writeFiles(app.outdir, { 'kustomization.yaml': kustomization(), 'images.txt': imageList() });
