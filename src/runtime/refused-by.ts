/**
 * Who refuses a request, by the words of the API server. Authorization: the operator has no right to it, so its installation
 * is wrong. Admission: the object is not accepted, for example by a quota, a policy or a webhook, which the owner of the
 * cluster has to correct.
 */
import { type ApiError, isDenied } from './api-error.ts';

export type RefusedBy = 'authorization' | 'admission';

/** As the API server says it for every authorizer. */
const noRight = /forbidden: User "[^"]*" cannot /;
/** An admission plugin that asks for rights of the user, in its two wordings. */
const noRightToOwner = / is forbidden: cannot set (blockOwnerDeletion|an ownerRef) /;
/** All other plugins say it of the object. A ValidatingAdmissionPolicy chooses the status, too. */
const notAdmitted = /^\S+ "[^"]*" is forbidden: /;

/** Undefined where neither does: the request is wrong or late, or the server fails. */
export function refusedBy({ status, words }: Pick<ApiError, 'status' | 'words'>): RefusedBy | undefined {
  if (isDenied({ words })) return 'admission';
  if (notAdmitted.test(words) && !noRight.test(words) && !noRightToOwner.test(words)) return 'admission';
  return status === 403 ? 'authorization' : undefined;
}
