/**
 * Nobody can talk to the database: a Secret is not there, or what it says is refused. Secrets are not watched, so
 * whoever puts it right is found by looking again.
 */
import { blocked, type Outcome } from '../plan/plan.ts';

const recheckMs = 10_000;

export function secretMissing(message: string): Outcome {
  return blocked('SecretMissing', message, recheckMs);
}
