/** kube-state-metrics, compiled from its Go module into the cache of the sandbox. */
import type { GoProgram } from '../../src/engine/image-recipe.ts';
import { binaryPath, missingPrograms } from '../../src/sandbox/binaries.ts';
import { compileMissing } from '../../src/sandbox/compile.ts';
import { layoutOf } from '../../src/sandbox/layout.ts';
import { createProgress } from '../../src/sandbox/progress.ts';

const module = 'k8s.io/kube-state-metrics/v2';

const program: GoProgram = {
  name: 'kube-state-metrics',
  package: module,
  source: { name: 'kube-state-metrics', module, version: 'v2.18.0' },
};

const layout = layoutOf(process.env);

export const stateMetricsPath = binaryPath(layout, program);

/** Once: it takes minutes. */
export async function compileStateMetrics(): Promise<void> {
  await compileMissing(layout, await missingPrograms(layout, [program]), createProgress());
}
