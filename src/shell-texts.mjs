/**
 * Writes `texts.ts` beside the `.sh` and `.py` files of each folder `shell`, and beside the `.lua` files of a folder `lua`: bundles and the
 * published package hold the scripts as text.
 * `npm run build` runs it first.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const source = import.meta.dirname;
const files = readdirSync(source, { recursive: true }).filter((file) =>
  /[/\\](shell[/\\][^/\\]+\.(sh|py)|lua[/\\][^/\\]+\.lua)$/.test(file),
);

for (const folder of new Set(files.map(dirname))) {
  const entries = files
    .filter((file) => dirname(file) === folder)
    .sort()
    .map((file) => {
      const text = readFileSync(join(source, file), 'utf8');
      if (text.includes('\r')) throw new Error(`${file} has a carriage return, which a template literal would change`);
      const escaped = text.replace(/[\\`]|\$(?=\{)/g, '\\$&');
      return `  '${file.slice(folder.length + 1)}': \`${escaped}\`,\n`;
    });
  const head = '/** Made of the scripts of this folder by `npm run build`. */\n';
  writeFileSync(join(source, folder, 'texts.ts'), `${head}export const texts = {\n${entries.join('')}} as const;\n`);
}
