/** What people meet of PostgreSQL. */
import type { Definition } from '../../engine/definition.ts';
import { type PostgresSpecInput, postgresKind } from './kind/schema.ts';
import { postgresNames } from './names.ts';

export interface PostgresEndpoints {
  /** Name of the Service of the primary, on port 5432. */
  readonly primaryService: string;
  /** Name of the Service of the standbys, on port 5432: for reads that may be late. */
  readonly replicasService: string;
  /** Name of the Secret for the application. */
  readonly secret: string;
}

export const postgresDefinition: Definition<PostgresSpecInput, PostgresEndpoints> = {
  name: 'postgres',
  kind: postgresKind,
  endpoints(cluster) {
    const { primary, replicas, app } = postgresNames(cluster);
    return { primaryService: primary, replicasService: replicas, secret: app };
  },
  // Children of two kinds in one namespace may not share their names.
  sample: { name: 'sample-postgres' },
  // As the superuser, by the socket of the pod: nobody else needs no password.
  shell: () => 'psql -U postgres -d app',
};
