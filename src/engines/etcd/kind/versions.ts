/** Versions as etcd counts them: what matters between two members is the minor. */

/** On everything of a cluster, and on its pods: what they are made to run. */
export const versionLabel = 'app.kubernetes.io/version';

/** `6` of `3.6.16`; 0 where there is none. */
export function minorNumber(version: string | undefined): number {
  return Number(version?.split('.')[1] ?? 0);
}

export function patchNumber(version: string): number {
  return Number(version.split('.')[2] ?? 0);
}

/** `3.6` of `3.6.16`. */
export function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
