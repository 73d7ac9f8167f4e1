/** What people meet of PostgreSQL. */
import { leafKeys } from '../../certificates/facts.ts';
import { type Connection, type Place, placesIn } from '../../engine/connection.ts';
import type { Definition } from '../../engine/definition.ts';
import { exporterImage, poolerImage, releasedImage } from './kind/released-image.ts';
import { majors, type PostgresSpecInput, postgresKind } from './kind/schema.ts';
import type { UserSpecInput } from './kind/user.ts';
import { loginSecret, postgresNames, sqlPort } from './names.ts';

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
    return {
      services: { primary: place(primary, sqlPort), replicas: place(replicas, sqlPort) },
      env: environmentOf(app),
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

/** Of a PostgresUser, in the namespace of its cluster. `spec` as a user writes it. */
export function userConnection(
  { name, namespace }: { readonly name: string; readonly namespace?: string },
  spec: UserSpecInput,
): Connection {
  const { primary, replicas } = postgresNames(spec.cluster.name);
  const place = placesIn(namespace);
  const [writes, reads] = [place(primary, sqlPort), place(replicas, sqlPort)];
  return { services: { primary: writes, replicas: reads }, env: userEnvironment(name, spec, writes) };
}

function userEnvironment(resource: string, spec: UserSpecInput, { host, port }: Place): Connection['env'] {
  const { passwordSecret, database, login = true } = spec;
  if (!login) return {};
  if (passwordSecret === undefined) return environmentOf(loginSecret(resource));
  // A Secret of a user's own has the password, and nothing else for certain.
  const { name: secretName, key = 'password' } = passwordSecret;
  return {
    PGHOST: host,
    PGPORT: String(port),
    ...(database === undefined ? {} : { PGDATABASE: database }),
    PGUSER: spec.name,
    PGPASSWORD: { secretName, key },
    PGSSLMODE: 'require',
  };
}

/** Of a Secret that the operator makes for a login. */
function environmentOf(secretName: string): Connection['env'] {
  const inSecret = (key: string) => ({ secretName, key });
  return {
    PGHOST: inSecret('host'),
    PGPORT: inSecret('port'),
    PGDATABASE: inSecret('database'),
    PGUSER: inSecret('username'),
    PGPASSWORD: inSecret('password'),
    PGSSLMODE: 'require',
    DATABASE_URL: inSecret('uri'),
  };
}
