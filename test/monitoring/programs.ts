/** kube-state-metrics, compiled from its Go module into the cache of the sandbox. */
import { existsSync } from 'node:fs';
import type { GoProgram } from '../../src/engine/image-recipe.ts';
import { binaryPath } from '../../src/sandbox/binaries.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';

const module = 'k8s.io/kube-state-metrics/v2';

export const stateMetricsProgram: GoProgram = {
  name: 'kube-state-metrics',
  package: module,
  source: { name: 'kube-state-metrics', module, version: 'v2.18.0' },
};

export const stateMetricsPath = binaryPath(layoutOf(process.env), stateMetricsProgram);
export const isCompiled = existsSync(stateMetricsPath);
