/** The scenarios of EtcdCluster, numbered as in the matrix of fault classes and scenarios. */
import type { Scenario, Spec } from './scenario.ts';

const one: Spec = { version: '3.6.16', replicas: 1, storage: { size: '1Gi' } };
const three: Spec = { ...one, replicas: 3 };

const scenarios: readonly Omit<Scenario, 'engine'>[] = [
  {
    id: 'etcd S1',
    title: 'create',
    act: (stage) => stage.create(three),
    end: 'whole',
    writes: 32,
    written: false,
  },
];

export const etcdScenarios: readonly Scenario[] = scenarios.map((scenario) => ({ engine: 'etcd', ...scenario }));
