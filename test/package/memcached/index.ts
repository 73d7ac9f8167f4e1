/** memcached as an engine of clusterwright. */
import { type DefinedEngine, type Definition, defineEngine } from 'clusterwright/engine';
import { type MemcachedSpec, type MemcachedSpecInput, memcachedKind } from './kind.js';
import { type MemcachedObserved, nothingObserved, observe } from './observe.js';
import { type MemcachedAction, type MemcachedSituation, plan, status } from './plan.js';
import { port, resources } from './resources.js';

const definition: Definition<MemcachedSpecInput, { readonly service: string }> = {
  name: 'memcached',
  kind: memcachedKind,
  endpoints: (cluster) => ({ service: cluster }),
  sample: { name: 'sample-memcached' },
};

const all = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

export const memcached: DefinedEngine = defineEngine<
  MemcachedSpec,
  MemcachedObserved,
  MemcachedSituation,
  MemcachedAction
>({
  definition,
  permissions: [
    { apiGroups: [''], resources: ['services'], verbs: all },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
    { apiGroups: ['apps'], resources: ['statefulsets'], verbs: all },
    { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: all },
  ],
  ports: [port],
  resources,
  observe: (_, children, io) => observe(children, io),
  situation: (cluster, children, observed) => ({ cluster, children, observed }),
  plan,
  act: () => Promise.reject(new Error('memcached has no actions')),
  status,
  offlineObservation: nothingObserved,
});
