import { App, Chart } from 'cdk8s';
import { Crds, Operator, RedisCluster } from 'clusterwright';

const app = new App();
const platform = new Chart(app, 'platform');
new Crds(platform, 'crds');
new Operator(platform, 'operator', { watch: { namespaces: ['shop'] } });
const shop = new Chart(app, 'shop', { namespace: 'shop' });
new RedisCluster(shop, 'cache', { metadata: { name: 'cache' }, spec: { replicas: 5 } });
app.synth();
