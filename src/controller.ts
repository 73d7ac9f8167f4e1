/** In-cluster entry point: what the operator's image runs. */
import { engines } from './engines/index.ts';
import { runController } from './runtime/run-controller.ts';

process.exitCode = await runController({ engines });
process.exit();
