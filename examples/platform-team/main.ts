/** The operator of a platform team, and the tenants that it serves. */
import { App, Chart } from 'cdk8s';
import { Crds, Monitoring, Operator } from 'clusterwright';
import { type Tenant, TenantChart, tenantNamespace } from './tenant.ts';

const tenants: readonly Tenant[] = [
  { name: 'shop', size: 'large', developers: 'shop-developers', auditors: 'audit' },
  { name: 'billing', size: 'small', developers: 'billing-developers', auditors: 'audit' },
];

const app = new App();

const crds = new Chart(app, 'crds');
new Crds(crds, 'crds');

const namespaces = new Chart(app, 'namespaces');
for (const tenant of tenants) tenantNamespace(namespaces, tenant);

// The operator has a Role in each of these namespaces, and no rights in others.
const watch = { namespaces: tenants.map(({ name }) => name) };
const operator = new Chart(app, 'operator');
operator.addDependency(crds, namespaces);
new Operator(operator, 'operator', { image: 'registry.example/clusterwright:0.1.0', watch });

// Needs the CRDs of the Prometheus operator.
const monitoring = new Chart(app, 'monitoring', { namespace: 'monitoring' });
monitoring.addDependency(operator);
new Monitoring(monitoring, 'monitoring', {
  watch,
  labels: { release: 'kube-prometheus-stack' },
  stateMetricsAccount: { name: 'kube-prometheus-stack-kube-state-metrics', namespace: 'monitoring' },
});

for (const tenant of tenants) new TenantChart(app, tenant).addDependency(operator);

app.synth();
