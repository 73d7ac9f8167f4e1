/// <reference types="node" preserve="true" />
/**
 * `clusterwright/testing`: what the tests of an engine are written with, for any test framework. Pure: no test needs a
 * Kubernetes cluster, a process or a clock.
 */
export { claimContradictions } from './claim-contradictions.ts';
export { type ConformanceCheck, type ConformanceOptions, conformanceChecks } from './conformance.ts';
export { runningChildren } from './running-children.ts';
export type { EngineSample } from './sample.ts';
export { silentContext } from './silent-context.ts';
export { stored } from './stored-object.ts';
