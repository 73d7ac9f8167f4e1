/** What somebody asks for. */
import { sampleOf } from './sample.ts';

sampleOf(['S1', 'S2', 'S3', 'S4', 'S11 retain', 'S11 delete', 'S14']);
