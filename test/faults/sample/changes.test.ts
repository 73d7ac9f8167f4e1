/** What somebody asks for. */
import { sampleOf } from './sample.ts';

sampleOf(['S1', 'S2', 'S3', 'S4', 'S11 retain', 'S11 delete', 'S14']);
sampleOf(['S14 class'], ['F1', 'F5', 'F17']);
sampleOf(['S4 window', 'S14 window'], ['F1']);
