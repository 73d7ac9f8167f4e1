/**
 * Ids of backups: `20261121T124500Z-1a2b3c4d`. The time comes first, so that ids sort by age; what follows keeps two of
 * the same second apart.
 */

const pattern = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z-([0-9a-f]{8})$/;

/** @param chance four random bytes */
export function backupId(nowMs: number, chance: Uint8Array): string {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  return `${time}-${Buffer.from(chance.subarray(0, 4)).toString('hex')}`;
}

/** Milliseconds since the epoch; undefined where the text is no id. */
export function timeOfId(id: string): number | undefined {
  const [, year, month, day, hour, minute, second] = pattern.exec(id) ?? [];
  if (second === undefined) return undefined;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? undefined : time;
}
