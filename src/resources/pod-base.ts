/** What every pod of a cluster has, whatever runs in it: its security, and what the spec adds to all of them. */
import { defaultUid, type PodAdditions } from '../api/pods.ts';
import type { PodSpec } from './plain.ts';
import { podSecurityContextOf } from './podsecurity.ts';

type PodBase = Pick<
  PodSpec,
  'automountServiceAccountToken' | 'enableServiceLinks' | 'securityContext' | 'imagePullSecrets'
>;

export function podBase({ uid = defaultUid, imagePullSecrets = [] }: PodAdditions = {}): PodBase {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurityContextOf(uid),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets }),
  };
}

/**
 * For pods that have no rights of their own. The API server copies the name to the deprecated field `serviceAccount`, and back where the
 * name is missing. So an apply that drops the name takes the account away only if it drops both.
 */
export function podAccount({
  serviceAccountName: name,
}: {
  readonly serviceAccountName?: string | undefined;
}): Pick<PodSpec, 'serviceAccountName' | 'serviceAccount'> {
  return name === undefined ? {} : { serviceAccountName: name, serviceAccount: name };
}

export interface PodMetadata {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Labels and annotations of ours stay as they are: selectors and planners rest on them. */
export function podMetadata(own: Partial<PodMetadata>, { labels, annotations }: PodAdditions = {}): PodMetadata {
  const noted = { ...annotations, ...own.annotations };
  return {
    // The same object where nothing is added: there are many clusters.
    labels: labels === undefined ? (own.labels ?? {}) : { ...labels, ...own.labels },
    ...(annotations === undefined && own.annotations === undefined ? {} : { annotations: noted }),
  };
}
