/** An exporter of metrics beside a database: what `spec.monitoring` says of it in each kind that has one. */
import { computeRules, computeSchema } from './compute.ts';
import { imageSchema } from './image.ts';
import type { CelRule } from './schema.ts';

/** Least memory limit that an exporter starts with. */
const memory = '32Mi';

/** `fallback` is the image that runs where none is named. */
export const exporterFields = <const Fallback extends string>(fallback: Fallback) =>
  ({
    image: imageSchema(fallback),
    resources: computeSchema('an exporter', { cpu: '20m', memory: '64Mi' }, memory),
  }) as const;

/** For `spec`: each only where there are exporters. */
export const exporterRules: readonly CelRule[] = computeRules('monitoring.resources', memory).map(
  ({ rule, ...rest }) => ({ ...rest, rule: `!has(self.monitoring) || (${rule})` }),
);
