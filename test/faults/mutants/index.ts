/** The mutants. */

import type { Mutant } from './mutant.ts';
import { backupMutants } from './of-backups.ts';
import { etcdMutants } from './of-etcd.ts';
import { foresightMutants } from './of-foresight.ts';
import { oldViewMutants } from './of-old-views.ts';
import { planMutants } from './of-plans.ts';
import { postgresMutants } from './of-postgres.ts';
import { runtimeMutants } from './of-runtime.ts';
import { userMutants } from './of-users.ts';

export const mutants: readonly Mutant[] = [
  ...runtimeMutants,
  ...oldViewMutants,
  ...planMutants,
  ...userMutants,
  ...etcdMutants,
  ...postgresMutants,
  ...backupMutants,
  ...foresightMutants,
];
