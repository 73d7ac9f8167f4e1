/** Backups: taken on demand, restored from, and the last one of all. */
import { sampleOf } from './sample.ts';

sampleOf(['B1', 'etcd B3', 'etcd B4'], ['F1', 'F8', 'F16']);
