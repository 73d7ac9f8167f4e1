/** CRDs, operator and a cache, as manifests. */
import { App, Chart } from 'cdk8s';
import { Crds, clusterConstruct, Operator } from 'clusterwright';
import { engines as own } from 'clusterwright/engines';
import { memcached } from './index.js';

const engines = [...own, memcached];
const app = new App();
const platform = new Chart(app, 'platform');
new Crds(platform, 'crds', { engines });
const image = 'registry.example.com/caches/operator:1';
new Operator(platform, 'operator', { engines, image, watch: { namespaces: ['shop'] } });
const MemcachedCluster = clusterConstruct(memcached.definition);
const shop = new Chart(app, 'shop', { namespace: 'shop' });
new MemcachedCluster(shop, 'sessions', { metadata: { name: 'sessions' }, spec: { replicas: 5 } });
app.synth();
