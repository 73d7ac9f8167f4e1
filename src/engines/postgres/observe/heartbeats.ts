/** What Patroni writes to annotations every few seconds, as long as nothing happens. */

type Annotations = Readonly<Record<string, string>>;

/** Of the ConfigMap of the lock. */
const written: ReadonlySet<string> = new Set(['optime', 'renewTime', 'slots']);

/** Of a member's `status`: what changes when something happens to it. Positions in the WAL are not among them. */
const told = ['state', 'role', 'replication_state', 'timeline', 'pending_restart', 'pause', 'version'] as const;

export function withoutHeartbeats(annotations: Annotations): Annotations {
  const kept = Object.entries(annotations).filter(([name]) => !written.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, name === 'status' ? summaryOf(value) : value]));
}

/** As it is where it cannot be read: then every change of it is a change. */
function summaryOf(status: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(status);
  } catch {
    return status;
  }
  if (typeof parsed !== 'object' || parsed === null) return status;
  const fields = parsed as Readonly<Record<string, unknown>>;
  return JSON.stringify(told.map((name) => fields[name] ?? null));
}
