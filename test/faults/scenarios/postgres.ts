/** The scenarios of PostgresCluster, numbered as in the matrix of fault classes and scenarios. */
import { recoverAnnotation } from '../../../src/engines/postgres/names.ts';
import { inBucket } from './furniture.ts';
import { majorUpgrades } from './major-upgrade.ts';
import { refusedTemplate } from './refused-template.ts';
import type { Scenario, Spec } from './scenario.ts';

const one: Spec = { version: '17', instances: 1, storage: { size: '1Gi' } };
const three: Spec = { ...one, instances: 3 };
const vanishing: Spec = { ...three, deletionPolicy: 'Delete' };

/** For the status to say so, also where nobody may write for a while. */
const patienceMs = 180_000;

/** From the first sight of a pod until its member is making the database. */
const formingMs = 2_500;

/** The operator may be there between two deletions, and make one again that the others still vouch for. */
const madeBetween: NonNullable<Scenario['mayDiffer']> = [
  { oracle: 'O2', about: 'PostgresCluster/db' },
  { oracle: 'O2', about: 'ConfigMap/db-' },
  { oracle: 'O3', about: 'configmaps/db-' },
].map((excuse) => ({ ...excuse, why: 'which of the ConfigMaps were gone at the same time is chance' }));

const scenarios: readonly Omit<Scenario, 'engine'>[] = [
  { id: 'postgres S1', title: 'create', act: (stage) => stage.create(three), end: 'whole', writes: 60, written: false },
  {
    id: 'postgres S2',
    title: 'scale out 1→3',
    touches: ['instances'],
    before: one,
    act: (stage) => stage.change({ instances: 3 }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'postgres S3',
    title: 'scale in 3→1',
    touches: ['instances'],
    before: three,
    act: (stage) => stage.change({ instances: 1 }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'postgres S3 primary',
    title: 'scale in 3→1, PVCs deleted, after a failover to the highest member',
    touches: ['instances'],
    before: vanishing,
    async prepare(stage) {
      for (let tries = 0; stage.primary() !== 'db-2-0' && tries < 8; tries++) {
        await stage.deletePod(stage.primary());
        await stage.pause(60_000);
      }
    },
    act: (stage) => stage.change({ instances: 1 }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'postgres S4',
    title: 'parameter that needs a restart',
    touches: ['parameters'],
    before: three,
    act: (stage) => stage.change({ parameters: { max_connections: '150' } }),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'postgres S4 reload',
    title: 'parameter that counts once it is read',
    touches: ['parameters'],
    before: { ...three, parameters: { work_mem: '4MB' } },
    act: (stage) => stage.change({ parameters: { work_mem: '8MB' } }),
    end: 'whole',
    writes: 12,
    written: true,
  },
  {
    id: 'postgres S4 lower',
    title: 'parameter that no standby may have lower than its primary, lowered',
    touches: ['parameters'],
    before: { ...three, parameters: { max_connections: '200' } },
    act: (stage) => stage.change({ parameters: { max_connections: '50' } }),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'postgres S4 pods',
    title: 'resources, which replace every pod',
    touches: ['resources'],
    before: three,
    act: (stage) => stage.change({ resources: { limits: { memory: '1Gi' } } }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'postgres S4 resources',
    title: 'more CPU, in place',
    touches: ['resources'],
    before: three,
    act: (stage) => stage.change({ resources: { requests: { cpu: '500m' } } }),
    end: 'whole',
    writes: 18,
    written: true,
  },
  {
    id: 'postgres S8 behind',
    title: 'a standby is away until its primary has removed the log that it needs: it is copied again',
    mayDiffer: [
      {
        oracle: 'O2',
        about: 'PersistentVolumeClaim/',
        why: 'two standbys may be on that machine, and one is replaced then',
      },
      {
        oracle: 'O3',
        about: 'statefulsets/db-N',
        why: 'two standbys may be on that machine, and one is replaced then',
      },
    ],
    // A fifth of it is kept for standbys that are away.
    before: { ...three, storage: { size: '256Mi' } },
    act: (stage) => stage.powerOff([stage.replica()], 90_000),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'postgres S9 primary',
    title: "primary's pod lost",
    before: three,
    act: (stage) => stage.deletePod(stage.primary()),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'postgres S9',
    title: "standby's pod lost",
    before: three,
    act: (stage) => stage.deletePod(stage.replica()),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'postgres S9 one',
    title: 'pod of the only member lost',
    before: one,
    act: (stage) => stage.deletePod(stage.primary()),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'postgres S9 first',
    title: 'pod of the first member lost while it makes the database',
    async act(stage) {
      await stage.create(three);
      for (let ms = 0; ms < patienceMs && !stage.has('pods', 'db-0-0'); ms += 100) await stage.pause(100);
      await stage.pause(formingMs);
      await stage.deletePod('db-0-0');
    },
    end: 'whole',
    writes: 60,
    written: false,
  },
  {
    id: 'postgres S9 node',
    title: "primary's node lost for two minutes",
    before: three,
    act: (stage) => stage.powerOff([stage.primary()], 120_000),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'postgres S10 primary',
    title: "primary's volume lost",
    before: three,
    act: (stage) => stage.loseVolume(stage.primary()),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'postgres S10',
    title: "standby's PVC deleted",
    before: three,
    act: (stage) => stage.loseClaim(stage.replica()),
    end: 'whole',
    writes: 12,
    written: true,
  },
  {
    id: 'postgres S11 retain',
    title: 'delete, data kept',
    before: three,
    act: (stage) => stage.remove(),
    end: 'gone',
    writes: 8,
    written: false,
  },
  {
    id: 'postgres S11 delete',
    title: 'delete, data deleted',
    before: vanishing,
    act: (stage) => stage.remove(),
    end: 'gone',
    writes: 40,
    written: false,
  },
  {
    id: 'postgres S12',
    title: 'delete and recreate, data kept',
    before: three,
    async act(stage) {
      await stage.remove();
      await stage.gone();
      await stage.create(three);
    },
    end: 'whole',
    writes: 40,
    written: true,
  },
  {
    id: 'postgres S13',
    title: 'operator restarted',
    before: three,
    act: (stage) => stage.restartOperator(),
    end: 'whole',
    writes: 2,
    written: true,
  },
  {
    id: 'postgres S13 park',
    title: 'parked (instances 0), and started again',
    before: three,
    touches: ['instances'],
    async act(stage) {
      await stage.change({ instances: 0 });
      await stage.pause(60_000);
      await stage.change({ instances: 3 });
    },
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'postgres S14',
    mayDiffer: [
      { oracle: 'O3', about: 'delete pods/', why: 'how far the change got before it was taken back is chance' },
    ],
    title: 'an image that cannot be pulled, then the previous one',
    touches: ['image'],
    before: three,
    async act(stage) {
      await stage.change({ image: 'registry.example/absent:1' });
      await stage.pause(60_000);
      await stage.change({ image: null });
    },
    end: 'whole',
    writes: 28,
    written: true,
  },
  { ...refusedTemplate(three, 20), id: 'postgres S14 class' },
  ...(['leader', 'config', 'failover', 'sync'] as const).map(
    (part): Omit<Scenario, 'engine'> => ({
      id: `postgres S15 ${part}`,
      title: `ConfigMap db-${part} deleted`,
      before: three,
      act: (stage) => stage.discard('configmaps', `db-${part}`),
      end: 'whole',
      writes: 8,
      written: true,
    }),
  ),
  {
    id: 'postgres S15 all',
    mayDiffer: madeBetween,
    title: 'all ConfigMaps of Patroni deleted: nobody is elected, and a person is asked',
    before: three,
    async act(stage) {
      for (const part of ['leader', 'config', 'failover', 'sync']) await stage.discard('configmaps', `db-${part}`);
    },
    end: 'blocked',
    writes: 8,
    written: false,
  },
  {
    id: 'postgres S15 stale',
    mayDiffer: [
      ...madeBetween,
      { oracle: 'O5', about: 'it cannot be read: nobody takes writes', why: 'a person is asked, and nothing is lost' },
    ],
    title: 'all ConfigMaps of Patroni deleted in a power failure, and a stale standby starts first',
    before: three,
    async act(stage) {
      const stale = stage.replica();
      await stage.cutPower([stale]);
      await stage.pause(60_000);
      await stage.cutPower('all');
      for (const part of ['leader', 'config', 'failover', 'sync']) await stage.discard('configmaps', `db-${part}`);
      await stage.restorePower([stale]);
      await stage.pause(90_000);
      await stage.restorePower('all');
    },
    end: 'blocked',
    // Each member is away and back, one of them twice, and the status says so each time.
    writes: 9,
    written: true,
  },
  {
    id: 'postgres S15 blank',
    mayDiffer: madeBetween,
    title: 'every PVC and every ConfigMap of Patroni lost: no database is made',
    before: three,
    async act(stage) {
      const pods = ['db-0-0', 'db-1-0', 'db-2-0'];
      for (const part of ['leader', 'config', 'failover', 'sync']) await stage.discard('configmaps', `db-${part}`);
      for (const pod of pods) await stage.loseClaim(pod);
    },
    end: 'blocked',
    writes: 12,
    written: false,
  },
  {
    id: 'postgres S15 recovery',
    mayDiffer: [
      { oracle: 'O2', about: 'PersistentVolumeClaim/', why: 'whose volumes they were is chance, and they are kept' },
      { oracle: 'O2', about: 'retired', why: 'whose volumes they were is chance, and they are kept' },
    ],
    title: 'volumes of the primary and of a voter lost: nobody is promoted, until a person names the survivor',
    before: three,
    // The request names the generation that it is for.
    touches: ['instances', 'parameters', 'resources', 'paused'],
    async act(stage) {
      const [primary, standby] = [stage.primary(), stage.replica()];
      const survivor = ['db-0-0', 'db-1-0', 'db-2-0'].find((pod) => pod !== primary && pod !== standby) ?? '';
      await stage.loseClaim(primary);
      await stage.loseClaim(standby);
      // As the status offers it, whenever the operator is there to say so.
      const offer = new RegExp(`${survivor}@[\\w-]+/\\d+/[0-9A-F]+/[0-9A-F]+`);
      while (!offer.test(stage.said())) await stage.pause(5_000);
      await stage.annotate(recoverAnnotation, offer.exec(stage.said())?.[0] ?? '');
    },
    end: 'whole',
    writes: 60,
    written: false,
  },
  {
    id: 'postgres S15 power',
    title: 'power failure on all nodes, a stale standby comes back first',
    before: three,
    async act(stage) {
      const stale = stage.replica();
      await stage.cutPower([stale]);
      await stage.pause(60_000);
      await stage.cutPower('all');
      await stage.restorePower([stale]);
      await stage.pause(90_000);
      await stage.restorePower('all');
    },
    end: 'whole',
    writes: 14,
    written: true,
  },
  {
    id: 'postgres S16 refused',
    title: 'a version whose image cannot upgrade a copy of the data, then the previous one: nobody stops',
    touches: ['version', 'upgrade'],
    before: three,
    async act(stage) {
      await stage.change({ version: '18', upgrade: { withoutBackup: true } });
      for (let ms = 0; ms < patienceMs && !stage.said().includes('UpgradeRefused'); ms += 1_000)
        await stage.pause(1_000);
      await stage.pause(20_000);
      await stage.change({ version: '17' });
    },
    mayDiffer: [
      { oracle: 'O2', about: '"clusterwright.dev/upgrade"', why: 'the rehearsal is for a generation of the spec' },
      { oracle: 'O2', about: 'Job/db-rehearsal is missing', why: 'nobody may see the version before it is taken back' },
      {
        oracle: 'O3',
        about: 'jobs/db-rehearsal',
        why: 'a Job whose pod is not seen is made again, on a volume of its own',
      },
    ],
    end: 'whole',
    writes: 12,
    written: true,
    resources: ['jobs'],
  },
  ...majorUpgrades,
  {
    id: 'postgres S18 archive',
    title: 'the store of the archive is away until the log fills the volume, or is given up',
    before: { ...three, storage: { size: '128Mi' }, backup: { ...inBucket.place, archive: {} } },
    furniture: inBucket.furniture,
    act: (stage) => stage.storeAway(300_000),
    mayDiffer: [
      { oracle: 'O2', about: 'Pod/db-archive-0 differs: "controller-rev', why: 'its task has the UID of the cluster' },
      { oracle: 'O2', about: 'ConfigMap/db-archive-task', why: 'members that come later have other numbers' },
      { oracle: 'O1', about: 'at rest', why: 'the status shows the end of the archive anew every five minutes' },
    ],
    end: 'whole',
    writes: 14,
    written: true,
  },
];

export const postgresScenarios: readonly Scenario[] = scenarios.map((scenario) => ({
  engine: 'postgres',
  ...scenario,
}));
