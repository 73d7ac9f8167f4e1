/** What the API server's answer to a dry run says of a pod template. */
import { ApiError, ApiUnreachable, isAlreadyExists } from './api-error.ts';
import { refusedBy } from './refused-by.ts';

export type Verdict =
  | { readonly state: 'accepted' }
  /** No such pod can be made. `words`: the API server's own. */
  | { readonly state: 'refused'; readonly words: string }
  /** All but a quota takes it, which counts the pod that is to make room. */
  | { readonly state: 'overQuota'; readonly words: string }
  /** It has not said: a webhook does not answer, for example. `quota`: the words of the quota that were its last clear ones. */
  | { readonly state: 'unknown'; readonly words: string; readonly quota?: string }
  /** It does not say at all. */
  | { readonly state: 'unasked'; readonly words: string };

/** How long an answer counts. No watch tells that a PriorityClass is there by now, or a policy gone. */
export const countsMs: Readonly<Record<Verdict['state'], number>> = {
  accepted: 60_000,
  refused: 30_000,
  overQuota: 30_000,
  unknown: 10_000,
  unasked: 60_000,
};

/** One that changes more than the pod has to say that it can do without: no dry run reaches it otherwise. */
const notDryRun = /^admission webhook "[^"]+" does not support dry run/;
/** Refusals of admission name the pod. */
const noRight = /^pods is forbidden: /;
/** Admission cannot judge yet: the API server has just started, or the quota has just been made. */
export const notYet = / is forbidden: (not yet ready to handle request|status unknown for quota: )/;
/** The last of all checks. */
const exceededQuota = /^pods "[^"]+" is forbidden: exceeded quota: /;

/** Of a dry run that failed. @throws what is no answer of the API server */
export function verdictOn(error: unknown): Verdict {
  if (error instanceof ApiUnreachable) return { state: 'unknown', words: error.message };
  if (!(error instanceof ApiError)) throw error;
  const { status, words } = error;
  // The name is asked for when everything else has been checked.
  if (isAlreadyExists(error)) return { state: 'accepted' };
  if (exceededQuota.test(words)) return { state: 'overQuota', words };
  if (noRight.test(words) || notDryRun.test(words)) return { state: 'unasked', words };
  if (notYet.test(words)) return { state: 'unknown', words };
  const isRefused = status === 403 || status === 422 || refusedBy(error) === 'admission';
  return { state: isRefused ? 'refused' : 'unknown', words };
}
