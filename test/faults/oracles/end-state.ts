/** O2: in the end there is exactly what there is without the fault. */
import type { Oracle } from '../record.ts';
import { differences, maskedObjects } from './mask.ts';

export const endState: Oracle = {
  id: 'O2',
  promise: 'the end state is that of the undisturbed run',
  check: (run, reference) => differences(maskedObjects(run.after), maskedObjects(reference.after)),
};
