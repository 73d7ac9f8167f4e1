/** Mistakes that the author of an engine may make in its plan, its status and its backups, one at a time. */
import { pods as podResource } from '../../src/api/resource.ts';
import { fieldsIn } from '../../src/testing/fields.ts';
import { backedUp, planning, reporting, restoring } from './changed-toy.ts';
import { type Mistake, rules } from './mistake.ts';
import { password, toy, toyBackup } from './toy-engine.ts';

export const mistakesInBehavior: readonly Mistake[] = [
  {
    story: 'a plan that leaves one out',
    engine: planning((plan) => ({ ...plan, steps: plan.steps.slice(1) })),
    found: { [rules.offline]: 'Secret toy-auth is not created' },
  },
  {
    story: 'an action on nothing',
    engine: planning((plan, { children }) => ({
      ...plan,
      steps:
        children.pods.length > 0
          ? plan.steps
          : [{ type: 'act', action: { type: 'toy.wind' }, summary: 'wind it' }, ...plan.steps],
    })),
    found: { [rules.offline]: 'it plans: act wind it' },
  },
  {
    story: 'a plan that never ends',
    engine: planning((plan) => ({ ...plan, outcome: { state: 'wait', reason: 'Winding', message: 'it is wound up' } })),
    found: { [rules.settled]: 'the outcome is wait Winding: it is wound up\n- the condition Ready is False' },
  },
  {
    story: 'a phase that the conditions deny',
    engine: reporting((report) => ({ ...report, phase: 'Degraded' })),
    found: { [rules.status]: 'phase Degraded and Ready True', [rules.silence]: 'phase Degraded and Degraded False' },
  },
  {
    story: 'a size that nobody can read',
    engine: reporting(({ replicas: _, ...report }) => report),
    found: { [rules.status]: 'no `replicas`' },
  },
  {
    story: 'a selector for nobody',
    engine: reporting((report) => ({ ...report, selector: 'app=toy' })),
    found: { [rules.status]: '`selector` of the status selects no pod' },
  },
  {
    story: 'a password in the status',
    engine: reporting((report) => ({ ...report, members: [{ name: `toy:${password}`, role: 'toy', ready: true }] })),
    found: { [rules.secrets]: 'a secret is in: status' },
  },
  {
    story: 'another port than the operator may connect to',
    engine: {
      observe: async (cluster, children, io) => {
        await io.dial('10.0.0.1', 7001, io.signal).catch(() => undefined);
        return toy.observe(cluster, children, io);
      },
    },
    found: { [rules.dialled]: 'it connects to 7001' },
  },
  {
    story: 'HTTP on another port than the operator may connect to',
    engine: {
      observe: async (cluster, children, io) => {
        const request = { host: '10.0.0.1', port: 7002, method: 'GET', path: '/', signal: io.signal } as const;
        await io.exchange(request).catch(() => undefined);
        return toy.observe(cluster, children, io);
      },
    },
    found: { [rules.dialled]: 'it connects to 7002' },
  },
  {
    story: 'readiness that is only believed',
    engine: { observe: async (_, { pods }) => pods.map(({ metadata }) => metadata.name) },
    found: { [rules.silence]: 'the condition Ready is True' },
  },
  {
    story: 'silence that is taken for death',
    engine: planning((plan, { children: { pods }, answering }) => {
      const [silent] = pods.filter(({ metadata }) => !answering.includes(metadata.name));
      if (silent === undefined) return plan;
      const { name, uid = '' } = silent.metadata;
      const ref = { resource: podResource, name, uid };
      return { ...plan, steps: [{ type: 'delete', ref, reason: 'it does not answer' }] };
    }),
    found: { [rules.silence]: 'it plans: delete Pod toy-' },
  },
  {
    story: 'silence that is taken for a smaller cluster',
    engine: planning((plan, { children, answering }) => {
      const set = children.statefulSet('toy');
      if (set === undefined || answering.length > 0) return plan;
      const object = { ...set, spec: { ...set.spec, replicas: 0 } };
      const changes = [{ path: 'spec.replicas', from: set.spec?.replicas, to: 0 }];
      return { ...plan, steps: [{ type: 'apply', object, changes }] };
    }),
    found: { [rules.silence]: 'it plans: fewer pods of StatefulSet toy' },
  },
  {
    story: 'a driver of another engine',
    engine: backedUp({}),
    driver: { engine: 'game', kind: 'GameCluster' },
    found: { [rules.source]: 'the driver is of the engine game\n- the driver is of the kind GameCluster' },
  },
  {
    story: 'a source that the agent refuses',
    engine: backedUp({
      source: (cluster) => ({ ...toyBackup.source(cluster), source: { engine: 'toy', members: [] } }),
    }),
    found: { [rules.source]: 'source.members' },
  },
  {
    story: 'a destination that the agent refuses',
    engine: restoring({ destination: { engine: 'toy', directory: 'data' } }),
    found: { [rules.restore]: 'destination.directory' },
  },
  {
    story: 'a restore into a StatefulSet that is not there',
    engine: restoring({ set: 'toy-0' }),
    found: { [rules.restore]: 'there is no StatefulSet toy-0' },
  },
  {
    story: 'a restore into something else than the volume',
    engine: restoring({ fetchMounts: [{ name: 'scratch', mountPath: '/scratch' }] }),
    found: { [rules.restore]: 'there is no volume scratch to mount\n- nothing mounts the volume that is to be filled' },
  },
  {
    story: 'a restore into a StatefulSet without volumes',
    engine: {
      ...restoring({ set: 'toy-more' }),
      resources: (cluster) => [
        ...toy.resources(cluster),
        ...toy.resources(cluster).flatMap(({ object }) => {
          const { volumeClaimTemplates: _, ...spec } = fieldsIn(object.spec);
          const metadata = { ...object.metadata, name: 'toy-more' };
          return object.kind === 'StatefulSet' ? [{ object: { ...object, metadata, spec } }] : [];
        }),
      ],
    },
    found: { [rules.restore]: 'the StatefulSet toy-more has no volume' },
  },
  {
    story: 'a drill that nobody could create',
    engine: backedUp({ drill: () => ({ replicas: 0 }) }),
    found: { [rules.drill]: 'spec.replicas: must be at least 1' },
  },
];
