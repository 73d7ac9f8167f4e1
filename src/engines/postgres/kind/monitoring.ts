/** `spec.monitoring`: an exporter for each member. */
import { exporterFields } from '../../../api/exporter.ts';
import type { StructuralSchema } from '../../../api/schema.ts';
import { exporterImage } from './released-image.ts';

const name = '^[a-z_][a-z0-9_]{0,62}$';

const metricSchema = {
  type: 'object',
  description: 'One column of the result.',
  required: ['column', 'type'],
  properties: {
    column: { type: 'string', description: 'Name of the column.', pattern: name, maxLength: 63 },
    type: {
      type: 'string',
      description: 'Gauge and Counter are values, Label tells the rows of the result apart.',
      enum: ['Gauge', 'Counter', 'Label'],
    },
    description: { type: 'string', description: 'Help text of the metric.', default: '', maxLength: 200 },
  },
} as const satisfies StructuralSchema;

const querySchema = {
  type: 'object',
  description: 'One query. Its metrics are called NAME_COLUMN.',
  required: ['name', 'sql', 'metrics'],
  properties: {
    name: { type: 'string', description: 'First part of the names of its metrics.', pattern: name, maxLength: 63 },
    sql: {
      type: 'string',
      description:
        'A SELECT without a semicolon. It runs as the role clusterwright_monitor, for at most 5 s, in a session that is read-only unless the query itself changes that. Qualify the names of tables, such as `public.orders`: the search path has pg_catalog alone. Rows after the first 1000 are left out.',
      minLength: 1,
      maxLength: 4096,
      'x-kubernetes-validations': [{ rule: "!self.contains(';')", message: 'sql is one query, without a semicolon' }],
    },
    metrics: {
      type: 'array',
      description: 'The columns of the result.',
      minItems: 1,
      maxItems: 20,
      items: metricSchema,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['column'],
    },
  },
} as const satisfies StructuralSchema;

export const monitoringSchema = {
  type: 'object',
  description:
    'Metrics of each instance for Prometheus, by postgres_exporter in a pod of its own. When absent, there are none.',
  properties: {
    ...exporterFields(exporterImage),
    queries: {
      type: 'array',
      description: 'Queries of your own, in the first database.',
      default: [],
      maxItems: 20,
      items: querySchema,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
  },
} as const satisfies StructuralSchema;
