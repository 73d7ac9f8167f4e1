/** What a valid spec gives up, or risks, as a condition. */
import { shortened } from '../api/bounds.ts';
import type { DesiredCondition } from '../api/condition.ts';
import { largerVolumes, type VolumeField } from '../plan/volume-expansion.ts';
import type { Claim } from '../resources/children.ts';

export interface SpecWarning {
  /** CamelCase, stable. */
  readonly reason: string;
  readonly message: string;
}

/** The API server refuses a smaller `storage.size`; a cluster that is made anew may ask for less than its volumes have. */
export function shrinkWarnings(size: string, claims: readonly Claim[], volumes?: VolumeField): SpecWarning[] {
  const message = largerVolumes(size, claims, volumes);
  return message === undefined ? [] : [{ reason: 'StorageCannotShrink', message }];
}

/** One condition for all of them, under the reason of the first. */
export function warningClaims(warnings: readonly SpecWarning[]): DesiredCondition[] {
  const [first] = warnings;
  if (first === undefined) return [];
  const message = shortened(warnings.map((warning) => warning.message).join('; '));
  return [{ type: 'SpecWarning', status: 'True', reason: first.reason, message }];
}
