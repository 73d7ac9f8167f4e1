/** Entry point of the backup agent. */
import { runAgent } from './agent/run-agent.ts';
import { drivers } from './engines/drivers.ts';

process.exitCode = await runAgent({ drivers });
process.exit();
