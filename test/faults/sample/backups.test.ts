/** Backups: taken on demand, restored from, and the last one of all. */
import { sampleOf } from './sample.ts';

sampleOf(['etcd B1', 'etcd B4'], ['F1', 'F8', 'F16']);
sampleOf(['B3'], ['F1', 'F16']);
