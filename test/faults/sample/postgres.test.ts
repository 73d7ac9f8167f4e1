/** What somebody asks of a PostgreSQL, and what befalls it. */
import { sampleOf } from './sample.ts';

sampleOf(['postgres S1', 'postgres S4', 'postgres S10', 'postgres S15 stale'], ['F1', 'F3', 'F7', 'F15', 'F16', 'F18']);
