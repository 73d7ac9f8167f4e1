/** The agent's drivers, for data that is in a form of the simulation's own: see `Database`. */
import type { Driver } from '../../../src/engine/driver/driver.ts';
import { drivers } from '../../../src/engines/drivers.ts';
import type { Database } from './database.ts';

/** Without the archive of a log, which no model has. */
export function driversFor({ engine, check }: Database): readonly Driver[] {
  return drivers.map((driver): Driver => {
    if (driver.engine !== engine || check === undefined) return driver;
    const { archive: _, ...others } = driver;
    return { ...others, check };
  });
}
