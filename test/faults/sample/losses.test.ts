/** What befalls a cluster. */
import { sampleOf } from './sample.ts';

sampleOf(['S3 primary', 'S9 primary', 'S9 replica', 'S10 primary', 'S10 replica', 'S12', 'S13']);
