/** The backup agent with journals beside the engines of clusterwright: bundled with `esbuild agent.js --bundle`. */
import { runAgent } from 'clusterwright/agent';
import { drivers } from 'clusterwright/drivers';
import { journalDriver } from './driver.js';

process.exitCode = await runAgent({ drivers: [...drivers, journalDriver] });
process.exit();
