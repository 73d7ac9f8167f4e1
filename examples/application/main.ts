/** An application with its own PostgreSQL and Redis, in a namespace that the operator watches. */
import { App, Chart, Size } from 'cdk8s';
import { Capability, Cpu, Deployment, EnvValue, Probe, SeccompProfileType, Volume } from 'cdk8s-plus-28';
import { PostgresCluster, PostgresDatabase, PostgresUser, RedisCluster } from 'clusterwright';

const app = new App();

// The connections contain the namespace: `shop-db-primary.shop.svc`.
const databases = new Chart(app, 'databases', { namespace: 'shop' });

const db = new PostgresCluster(databases, 'db', {
  metadata: { name: 'shop-db' },
  spec: {
    version: '17',
    image: 'registry.example/postgres:17',
    instances: 3,
    storage: { size: '20Gi' },
    resources: { requests: { cpu: '500m' }, limits: { memory: '2Gi' } },
  },
});

// The owner of the database creates its tables. The application reads and writes rows.
const owner = new PostgresUser(databases, 'orders-owner', {
  metadata: { name: 'orders-owner' },
  spec: { cluster: { name: 'shop-db' }, name: 'orders_owner', database: 'orders' },
});
new PostgresDatabase(databases, 'orders', {
  metadata: { name: 'orders' },
  spec: {
    cluster: { name: 'shop-db' },
    name: 'orders',
    owner: 'orders_owner',
    schemas: [{ name: 'shop' }],
    extensions: [{ name: 'pg_trgm' }],
  },
});
const writer = new PostgresUser(databases, 'orders-app', {
  metadata: { name: 'orders-app' },
  spec: {
    cluster: { name: 'shop-db' },
    name: 'orders_app',
    database: 'orders',
    grants: [
      {
        database: 'orders',
        schemas: [{ name: 'shop', tables: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'], sequences: ['USAGE', 'SELECT'] }],
      },
    ],
  },
});

const cache = new RedisCluster(databases, 'cache', {
  metadata: { name: 'shop-cache' },
  spec: {
    replicas: 3,
    resources: { limits: { memory: '512Mi' } },
    config: { 'maxmemory-policy': 'allkeys-lru' },
  },
});

const web = new Chart(app, 'web', { namespace: 'shop' });
web.addDependency(databases);

// Only the CA of the servers: the Secret also contains their private key, which the application does not need.
const ca = db.connection.ca;
if (ca === undefined) throw new Error('the certificate of the PostgresCluster is not one of the operator');
const caVolume = Volume.fromSecret(web, 'ca', db.connection.secret(ca.secretName), {
  name: 'database-ca',
  items: { [ca.key]: { path: 'ca.crt' } },
});

const certificates = {
  PGSSLMODE: EnvValue.fromValue('verify-full'),
  PGSSLROOTCERT: EnvValue.fromValue('/etc/database-ca/ca.crt'),
};

const container = {
  image: 'registry.example/shop:1.0.0',
  volumeMounts: [{ path: '/etc/database-ca', volume: caVolume }],
  // What the restricted Pod Security Standard asks for, beside the defaults of cdk8s-plus.
  securityContext: {
    user: 1000,
    group: 1000,
    capabilities: { drop: [Capability.ALL] },
    seccompProfile: { type: SeccompProfileType.RUNTIME_DEFAULT },
  },
  resources: {
    cpu: { request: Cpu.millis(250) },
    memory: { request: Size.mebibytes(256), limit: Size.mebibytes(512) },
  },
};

const deployment = new Deployment(web, 'web', {
  metadata: { name: 'web' },
  replicas: 2,
  initContainers: [
    {
      ...container,
      name: 'migrate',
      args: ['migrate'],
      envVariables: { ...owner.connection.env(), ...certificates },
    },
  ],
  containers: [
    {
      ...container,
      name: 'web',
      portNumber: 8080,
      envVariables: { ...writer.connection.env(), ...certificates, ...cache.connection.env() },
      readiness: Probe.fromHttpGet('/ready', { port: 8080 }),
    },
  ],
});
deployment.exposeViaService({ name: 'web', ports: [{ port: 80, targetPort: 8080 }] });

app.synth();
