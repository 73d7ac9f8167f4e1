/** What somebody asks of a PostgreSQL, and what befalls it: the essential cells. The others are for `npm run faults`. */
import { sampleOf } from './sample.ts';

sampleOf(['postgres S1'], ['F1', 'F3', 'F18']);
sampleOf(['postgres S4', 'postgres S15 stale'], ['F1']);
sampleOf(['postgres S10', 'postgres B1'], ['F1', 'F16']);
