import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** By their paths below a directory, which is made where it is missing. */
export function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}
