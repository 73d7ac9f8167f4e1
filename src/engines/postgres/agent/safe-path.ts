/** Names in an archive, as paths. */
import { NotTar, type TarEntry } from './tar.ts';

/** From the data directory on, and below it whatever the name says. Throws NotTar. */
export function pathOf({ name }: TarEntry): string {
  const path = Buffer.from(name, 'latin1').toString('utf8');
  const parts = path.replace(/^\.\//, '').replace(/\/$/, '').split('/');
  const isBelow = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  // What is no UTF-8 would be another name.
  if (!isBelow || Buffer.from(path).toString('latin1') !== name) {
    throw new NotTar(`${JSON.stringify(name)} is no path below the data directory`);
  }
  return parts.join('/');
}
