/** `spec.monitoring`: an exporter beside each server. */
import { exporterFields } from '../../../api/exporter.ts';
import type { StructuralSchema } from '../../../api/schema.ts';
import { exporterImage } from './released-image.ts';

export const monitoringSchema = {
  type: 'object',
  description:
    'Metrics of each Redis node and sentinel for Prometheus, by redis_exporter in a sidecar. When absent, there are none. After a change, the pods restart one at a time.',
  properties: exporterFields(exporterImage),
} as const satisfies StructuralSchema;
