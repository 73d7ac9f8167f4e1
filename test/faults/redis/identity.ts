/** The forty hexadecimal digits by which servers, sentinels and histories are known. */
import type { Random } from '../../../src/system/clock.ts';

export function hexId(random: Random): string {
  let id = '';
  for (let i = 0; i < 5; i++)
    id += Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  return id;
}
