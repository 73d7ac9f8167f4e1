/** A database that is suddenly empty: the backups of before stay. */
import { sampleOf } from './sample.ts';

sampleOf(['B2 loss'], ['F1']);
