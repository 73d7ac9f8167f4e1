/** Claims as backups want them: whichever is named is there, and nobody uses it; but none that a new member would take. */
import type { ClaimReader } from '../../src/runtime/claim-use.ts';
import type { AccountReader } from '../../src/runtime/service-account.ts';

export const blankClaims: ClaimReader = async (namespace, name) =>
  name.startsWith('data-')
    ? undefined
    : { claim: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, namespace } }, pods: [], sets: [] };

/** There is none: nobody has named one. */
export const blankAccounts: AccountReader = async () => undefined;
