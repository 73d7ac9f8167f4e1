/**
 * An image that passes for etcd's and answers the operator with what no etcd would say: answers of 10 MiB, answers that
 * never end, errors and names of tens of thousands of characters.
 */
import type { ImageRecipe } from '../../src/engine/image-recipe.ts';
import { buildRecipe } from '../../src/sandbox/images/build.ts';
import { imageReference } from '../../src/sandbox/images/recipe.ts';
import { findRecipe } from '../../src/sandbox/images/recipes.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';
import { createProgress } from '../../src/sandbox/progress.ts';
import { loadImages } from '../../src/sandbox/sandbox.ts';

/** One answer after the other, whatever is asked; its probes are always content. */
const program = `#!/usr/local/bin/node
const { createServer } = require('node:http');
const long = (length) => 'x'.repeat(length);
const member = (i) => ({ ID: String(i), name: long(9000), peerURLs: [long(3000)], clientURLs: [long(3000)] });
const answers = [
  (response) => response.end(JSON.stringify({ header: { cluster_id: '1', member_id: '1' }, version: long(10 << 20) })),
  (response) => {
    response.write('{"a":"');
    const more = setInterval(() => response.write(long(1 << 16)), 1);
    response.on('close', () => clearInterval(more));
  },
  (response) => response.writeHead(500).end(JSON.stringify({ code: 2, message: long(60000) })),
  (response) => response.writeHead(503).end(long(60000)),
  (response) => response.end(JSON.stringify({ header: { cluster_id: long(9000) }, leader: long(9000), version: long(9000) })),
  (response) => response.end(JSON.stringify({ header: { cluster_id: '1', member_id: '1' }, members: [1, 2, 3].map(member) })),
  (response) => response.end('['.repeat(60000)),
];
let asked = 0;
createServer((request, response) => answers[asked++ % answers.length](response)).listen(2379);
createServer((request, response) => response.end('ok')).listen(2381);
process.on('SIGTERM', () => process.exit(0));
`;

const { layers } = findRecipe('node:22');
const recipe: ImageRecipe = {
  name: 'hostile-etcd:dev',
  layers: [...layers, { kind: 'files', files: [{ path: '/usr/local/bin/etcd', mode: 0o755, content: program }] }],
  config: { entrypoint: ['/usr/local/bin/etcd'] },
};

/** Makes the image, loads it into every node, and answers with what a pod names it. */
export async function loadHostileEtcd(): Promise<string> {
  const progress = createProgress();
  await loadImages([await buildRecipe(layoutOf(process.env), recipe, progress)], {}, progress);
  return imageReference(recipe.name);
}
