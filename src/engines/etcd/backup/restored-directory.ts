/**
 * Puts a data directory that `etcdutl` has made where the member looks for it: it is made beside that place, in the same
 * volume, and takes its name when it is whole.
 *
 * The script meets what earlier pods of the same Job have left, and takes that away. Anything else in the volume is
 * somebody's data: then nothing is moved or deleted, and the restore is refused. A directory that is in place already is
 * replaced only where an earlier pod has put it there and no etcd has written to it since, which the mark tells.
 */
import { terminationMessagePath } from '../../../backup/agent-result.ts';

/** Beside the directory: which files were in it when it was put in place. */
const mark = '.restored';

const script = `
const { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const [volume, made, name, lastWords] = process.argv.slice(1);
const at = (...names) => [volume, ...names].join('/');
const filesIn = (folder) => readdirSync(at(folder), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => {
    const path = entry.parentPath + '/' + entry.name;
    const { ino, size, mtimeMs } = statSync(path);
    return path.slice(at(folder).length) + ' ' + ino + ' ' + size + ' ' + mtimeMs;
  })
  .sort()
  .join('\\n');
const isUntouched = () => existsSync(at('${mark}')) && readFileSync(at('${mark}'), 'utf8') === filesIn(name);
const ofThisJob = made.replace(/[^-]*$/, '');
const entries = readdirSync(volume);
const foreign = entries.filter((entry) => {
  if (entry === name) return !isUntouched();
  return entry !== 'lost+found' && entry !== '${mark}' && !entry.startsWith(ofThisJob);
});
if (foreign.length > 0) {
  const message = 'the volume holds ' + foreign.slice(0, 5).join(', ').slice(0, 300) + ': nothing is written over data';
  const words = JSON.stringify({ result: 'failed', reason: 'Occupied', message, isTransient: false });
  console.error(message);
  if (existsSync(lastWords)) writeFileSync(lastWords, words);
  process.exit(2);
}
if (entries.includes(name)) rmSync(at(name), { recursive: true });
for (const entry of entries) if (entry.startsWith(ofThisJob) && entry !== made) rmSync(at(entry), { recursive: true });
writeFileSync(at('${mark}'), filesIn(made));
renameSync(at(made), at(name));
`;

/** `made` and `name` are directories of the volume; `made` is the name of this pod, so that each pod makes its own. */
export function placeCommand(volume: string, made: string, name: string): readonly string[] {
  return ['/usr/local/bin/node', '-e', script, volume, made, name, terminationMessagePath];
}
