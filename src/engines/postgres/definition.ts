/** What people meet of PostgreSQL. */
import { leafKeys } from '../../certificates/facts.ts';
import { placesIn } from '../../engine/connection.ts';
import type { Definition } from '../../engine/definition.ts';
import { exporterImage, poolerImage, releasedImage } from './kind/released-image.ts';
import { majors, type PostgresSpecInput, postgresKind } from './kind/schema.ts';
import { postgresNames, sqlPort } from './names.ts';

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
  connection({ name, namespace }, { tls }) {
    const { primary, replicas, app, certificates } = postgresNames(name);
    const place = placesIn(namespace);
    const inSecret = (key: string) => ({ secretName: app, key });
    return {
      services: { primary: place(primary, sqlPort), replicas: place(replicas, sqlPort) },
      env: {
        PGHOST: inSecret('host'),
        PGPORT: inSecret('port'),
        PGDATABASE: inSecret('database'),
        PGUSER: inSecret('username'),
        PGPASSWORD: inSecret('password'),
        PGSSLMODE: 'require',
        DATABASE_URL: inSecret('uri'),
      },
      // Those of a certificate in `spec.tls` are in a ConfigMap.
      ...(tls?.server === undefined ? { ca: { secretName: certificates.server, key: leafKeys.trusted } } : {}),
    };
  },
  images: [...majors.map(releasedImage), poolerImage, exporterImage],
  // Children of two kinds in one namespace may not share their names.
  sample: { name: 'sample-postgres' },
  // As the superuser, by the socket of the pod: nobody else needs no password.
  shell: () => 'psql -U postgres -d app',
};
