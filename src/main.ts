/** The cdk8s apps: write `dist/*.k8s.yaml` and `dist/monitoring/*.k8s.yaml`, the same bytes on every machine. */
import { join } from 'node:path';
import { createApp } from './charts/app.ts';
import { createMonitoringApp } from './charts/monitoring.ts';

const app = createApp();
app.synth();
createMonitoringApp(join(app.outdir, 'monitoring')).synth();
