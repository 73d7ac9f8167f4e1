/** Everything that a Redis process holds, to be compared with what another one does. */
import { connectRedis, type RedisAddress, within } from './redis-client.ts';

/** As `DUMP` gives each key, by `DATABASE/KEY`. For databases that are small. */
export async function contentOf(
  address: RedisAddress,
  databases: readonly number[] = [0, 1],
): Promise<Readonly<Record<string, unknown>>> {
  const connection = await connectRedis(address, 1000);
  try {
    const found: [string, unknown][] = [];
    for (const database of databases) {
      await within(1000, connection.command('SELECT', String(database)));
      const keys = await within(2000, connection.command('KEYS', '*'));
      for (const key of Array.isArray(keys) ? keys.map(String).sort() : []) {
        found.push([`${database}/${key}`, await within(1000, connection.command('DUMP', key))]);
      }
    }
    return Object.fromEntries(found);
  } finally {
    connection.close();
  }
}
