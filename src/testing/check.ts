/** Rules of the conformance suite: what is wrong, in words. Nothing is wrong where there are none. */
import type { KindHandler } from '../engine/engine.ts';
import type { EngineSample } from './sample.ts';

export type Problems = readonly string[];

/** Of one sample. */
export interface SampleCheck {
  readonly name: string;
  problems(engine: KindHandler, sample: EngineSample): Problems | Promise<Problems>;
}

/** Of all samples together. */
export interface EngineCheck {
  readonly name: string;
  problems(engine: KindHandler, samples: readonly EngineSample[]): Problems;
}
