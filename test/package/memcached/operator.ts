/** The operator with memcached beside the engines of clusterwright: bundled with `esbuild operator.js --bundle`. */
import { runController } from 'clusterwright/controller';
import { engines } from 'clusterwright/engines';
import { memcached } from './index.js';

process.exitCode = await runController({ engines: [...engines, memcached] });
process.exit();
