/**
 * Conditions in the shape of metav1.Condition, read by kstatus, Argo CD and `kubectl wait`.
 *
 * `Ready` is always present. `Reconciling` and `Stalled` exist only while true, as kstatus demands; `Degraded` alone is
 * the paging signal.
 */

export type ConditionType = 'Ready' | 'Progressing' | 'Degraded' | 'Reconciling' | 'Stalled' | Finding;

/** What an engine has found out besides: each exists only while true. */
export type Finding =
  | 'SettingsRefused'
  | 'PersistenceFailing'
  | 'ReplicationBroken'
  | 'DiskFull'
  | 'CertificateHeldBack'
  | 'TemplateRefused'
  | 'AccessRefused'
  | 'SpecWarning'
  | 'PasswordOverlap'
  | 'PortUnused'
  | 'UserRefused'
  | 'UserSecretMissing'
  | 'VolumesTooSmall'
  | 'StatementRefused'
  | 'ArchiveGap'
  | 'ArchiveLate';
export type ConditionState = 'True' | 'False' | 'Unknown';

export interface Condition {
  readonly type: ConditionType;
  readonly status: ConditionState;
  /** CamelCase, stable: machines match on it. */
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  /** RFC 3339, to the second. */
  readonly lastTransitionTime: string;
}

/** What a planner says; times are added when the status is written. */
export type DesiredCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * Merges claims into the conditions that stand. A transition time moves only when `status` does; a type that is no
 * longer claimed is dropped. The result is ordered by type, so equal claims give equal bytes.
 */
export function mergeConditions(
  before: readonly Condition[],
  claims: readonly DesiredCondition[],
  generation: number,
  now: string,
): Condition[] {
  return claims
    .map((claim) => {
      const old = before.find((c) => c.type === claim.type);
      const lastTransitionTime = old !== undefined && old.status === claim.status ? old.lastTransitionTime : now;
      return { ...claim, observedGeneration: generation, lastTransitionTime };
    })
    .sort((a, b) => (a.type < b.type ? -1 : 1));
}
