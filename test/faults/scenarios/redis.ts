/** The scenarios of RedisCluster, numbered as in the matrix of fault classes and scenarios. */
import { correctedOutsideOfWindow, windowOpened } from './maintenance.ts';
import { anotherPassword, unusablePassword } from './password.ts';
import { powerCut } from './power.ts';
import { refusedTemplate } from './refused-template.ts';
import type { Scenario, Spec } from './scenario.ts';
import { failoverWithin } from './upgrade.ts';
import { otherUsers } from './users.ts';

/** Small and quick: one directive apart from the defaults, so that a change of it can be told from a default. */
export const three: Spec = { version: '8.0', replicas: 3, storage: { size: '1Gi' } };
/** Under Sentinel, with one data node. */
const one: Spec = { ...three, replicas: 1 };
const five: Spec = { ...three, replicas: 5 };
/** Of five, when three are wanted. */
const staying = ['db-0', 'db-1', 'db-2'];
const going = ['db-3', 'db-4'];
const vanishing: Spec = { ...three, deletionPolicy: 'Delete' };

const scenarios: readonly Omit<Scenario, 'engine'>[] = [
  {
    id: 'S1',
    title: 'create',
    act: (stage) => stage.create(three),
    end: 'whole',
    writes: 36,
    written: false,
  },
  {
    id: 'S2',
    title: 'scale out 3→5',
    touches: ['replicas'],
    before: three,
    act: (stage) => stage.change({ replicas: 5 }),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'S2 one',
    title: 'scale out 1→3',
    touches: ['replicas'],
    before: one,
    act: (stage) => stage.change({ replicas: 3 }),
    end: 'whole',
    writes: 20,
    written: false,
  },
  {
    id: 'S2 sentinels',
    title: 'Standalone→Sentinel, 1→3 at once',
    touches: ['replicas'],
    before: { ...one, mode: 'Standalone' },
    act: (stage) => stage.change({ mode: 'Sentinel', replicas: 3 }),
    end: 'whole',
    writes: 36,
    written: true,
  },
  {
    id: 'S3 one',
    title: 'scale in 3→1',
    touches: ['replicas'],
    before: three,
    act: (stage) => stage.change({ replicas: 1 }),
    end: 'whole',
    writes: 24,
    written: false,
  },
  {
    id: 'S3',
    title: 'scale in 5→3',
    touches: ['replicas'],
    before: five,
    act: (stage) => stage.change({ replicas: 3 }),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'S3 primary',
    title: 'scale in 5→3, the primary on a node that is removed',
    before: five,
    // Those that stay have just stopped when the primary hands over: one of those that go is chosen.
    async prepare(stage) {
      for (let primary = stage.primary(); !going.includes(primary); primary = stage.primary()) {
        for (const pod of staying.filter((each) => each !== primary)) await stage.deletePod(pod);
        await stage.pause(1_000);
        await stage.deletePod(primary);
        await stage.pause(40_000);
      }
    },
    touches: ['replicas'],
    act: (stage) => stage.change({ replicas: 3 }),
    end: 'whole',
    writes: 32,
    written: true,
  },
  {
    id: 'S4',
    title: 'config change with restart',
    touches: ['config'],
    before: three,
    act: (stage) => stage.change({ config: { 'io-threads': 2, 'maxmemory-policy': 'allkeys-lru' } }),
    end: 'whole',
    writes: 42,
    written: true,
  },
  {
    id: 'S4 one',
    title: 'config change with restart, one data node',
    touches: ['config'],
    before: one,
    act: (stage) => stage.change({ config: { 'io-threads': 2, 'maxmemory-policy': 'allkeys-lru' } }),
    end: 'whole',
    writes: 30,
    written: false,
  },
  {
    id: 'S4 monitoring',
    title: 'exporters beside the servers',
    touches: ['monitoring'],
    before: three,
    act: (stage) => stage.change({ monitoring: {} }),
    end: 'whole',
    writes: 50,
    written: true,
  },
  {
    id: 'S4 resources',
    title: 'more memory, in place',
    touches: ['resources'],
    before: three,
    act: (stage) => stage.change({ resources: { limits: { memory: '2Gi' } } }),
    end: 'whole',
    writes: 18,
    written: true,
  },
  windowOpened(three, 50),
  failoverWithin(three),
  anotherPassword(three),
  unusablePassword(three),
  otherUsers(three),
  {
    id: 'S9 primary',
    title: "primary's pod lost",
    before: three,
    act: (stage) => stage.deletePod(stage.primary()),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'S9 one',
    title: 'pod of the one data node lost',
    before: one,
    act: (stage) => stage.deletePod(stage.primary()),
    end: 'whole',
    writes: 15,
    written: false,
  },
  {
    id: 'S9 replica',
    title: "replica's pod lost",
    before: three,
    act: (stage) => stage.deletePod(stage.replica()),
    end: 'whole',
    writes: 10,
    written: true,
  },
  {
    id: 'S10 primary',
    title: "primary's volume lost",
    before: three,
    act: (stage) => stage.loseVolume(stage.primary()),
    end: 'whole',
    writes: 12,
    written: true,
  },
  {
    id: 'S10 replica',
    title: "replica's volume lost",
    before: three,
    act: (stage) => stage.loseVolume(stage.replica()),
    end: 'whole',
    writes: 6,
    written: true,
  },
  {
    id: 'S11 retain',
    title: 'delete, data kept',
    before: three,
    act: (stage) => stage.remove(),
    end: 'gone',
    writes: 0,
    written: false,
  },
  {
    id: 'S11 delete',
    title: 'delete, data deleted',
    before: vanishing,
    act: (stage) => stage.remove(),
    end: 'gone',
    writes: 9,
    written: false,
  },
  {
    id: 'S12',
    title: 'delete and recreate',
    before: three,
    async act(stage) {
      await stage.remove();
      await stage.gone();
      await stage.create(three);
    },
    end: 'whole',
    // The last one takes `plan.waitingFor` (`db-sentinel-0 does not know every member yet`) out of the status: Ready is said
    // while the sentinels still find each other, and a detail is written ten seconds after the write before.
    writes: 29,
    written: false,
  },
  {
    id: 'S13',
    title: 'operator restarted',
    before: three,
    act: (stage) => stage.restartOperator(),
    end: 'whole',
    writes: 2,
    written: true,
  },
  {
    id: 'S14',
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
  correctedOutsideOfWindow(three, 36),
  refusedTemplate(three, 44),
  powerCut(three, ['old', 'third', 'new']),
  {
    id: 'S16 older',
    title: 'a cluster that was created before cluster identities existed gets one',
    before: three,
    async prepare(stage) {
      await stage.stopOperator();
      await stage.makeOlder();
    },
    act: async (stage) => stage.startOperator(),
    end: 'whole',
    mayDiffer: [
      {
        oracle: 'O2',
        about: 'controller-revision-hash',
        why: 'a set that is made again mounts the identity, others do not',
      },
      { oracle: 'O2', about: 'StatefulSet/', why: 'the same' },
    ],
    writes: 23,
    written: true,
  },
];

export const redisScenarios: readonly Scenario[] = scenarios.map((scenario) => ({ engine: 'redis', ...scenario }));
