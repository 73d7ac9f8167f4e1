/**
 * PostgreSQL and Patroni, out of Debian's packages.
 *
 * The servers are under `/usr/lib/postgresql/VERSION/bin`. Pods run as the user 10001, which has an entry in `/etc/passwd`.
 */
import type { ImageRecipe, LayerRecipe } from '../../engine/image-recipe.ts';

/** The compiler for queries: LLVM is as large as everything else together. Without it PostgreSQL does not compile any. */
const compiler = [
  'usr/lib/*-linux-gnu/libLLVM*',
  'usr/lib/*-linux-gnu/libz3.so*',
  'usr/lib/postgresql/*/lib/bitcode',
  'usr/lib/postgresql/*/lib/llvmjit*',
];

/** Sources of locales, and encodings other than UTF-8. */
const locales = ['usr/lib/*-linux-gnu/gconv', 'usr/share/i18n'];

const server = (suite: 'trixie' | 'forky', version: string, removed: readonly string[]): LayerRecipe => ({
  kind: 'debian',
  suite,
  packages: [`postgresql-${version}`, `postgresql-client-${version}`, 'patroni', 'python3-psycopg2'],
  without: 'perl',
  removed: [...locales, ...removed],
  python: 'compiled',
});

/** The server of an older release, with those of its libraries that the newer release has in other versions. */
const olderServer: LayerRecipe = {
  kind: 'debian',
  suite: 'bookworm',
  packages: ['postgresql-15', 'postgresql-client-15'],
  removed: ['usr/lib/postgresql/*/lib/llvmjit*'],
  only: [
    'usr/lib/postgresql/15/bin',
    'usr/lib/postgresql/15/lib/*.so',
    'usr/share/postgresql/15',
    'usr/lib/*-linux-gnu/libicu*.so.72*',
    ...['ldap-2.5', 'lber-2.5', 'gnutls', 'hogweed', 'nettle', 'gmp', 'idn2', 'p11-kit', 'tasn1', 'unistring'].map(
      (library) => `usr/lib/*-linux-gnu/lib${library}.so.*`,
    ),
  ],
};

export const postgresImages: readonly ImageRecipe[] = [
  // Two versions in one image: pg_upgrade runs both servers.
  {
    name: 'postgres:17',
    standsInFor: ['docker.io/library/clusterwright-postgres:17'],
    layers: [server('trixie', '17', compiler), olderServer],
    config: {},
  },
  // Debian has the compiler in a package of its own by then.
  {
    name: 'postgres:18',
    standsInFor: ['docker.io/library/clusterwright-postgres:18'],
    layers: [server('forky', '18', [])],
    config: {},
  },
  // psql is for the guard beside PgBouncer, and reads no configuration of Perl's.
  {
    name: 'pgbouncer:1.24',
    standsInFor: ['docker.io/library/clusterwright-pgbouncer:1.24'],
    layers: [
      {
        kind: 'debian',
        suite: 'trixie',
        packages: ['pgbouncer', 'postgresql-client-17'],
        without: 'perl',
        removed: ['usr/lib/*-linux-gnu/gconv'],
      },
    ],
    config: {},
  },
  {
    name: 'postgres-exporter:0.17',
    standsInFor: ['docker.io/library/clusterwright-postgres-exporter:0.17'],
    layers: [{ kind: 'debian', suite: 'trixie', packages: ['prometheus-postgres-exporter'] }],
    config: {},
  },
];
