/** The cdk8s app: writes `dist/*.k8s.yaml`, the same bytes on every machine. */
import { createApp } from './charts/app.ts';

createApp().synth();
