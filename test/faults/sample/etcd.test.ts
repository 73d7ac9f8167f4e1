/** What somebody asks of an etcd, and what befalls it. */
import { sampleOf } from './sample.ts';

sampleOf(['etcd S1', 'etcd S2', 'etcd S3', 'etcd S4', 'etcd S10', 'etcd S15']);
