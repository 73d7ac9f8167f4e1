/** The scenarios of EtcdCluster, numbered as in the matrix of fault classes and scenarios. */
import { recoverAnnotation } from '../../../src/engines/etcd/names.ts';
import { inBucket, secret } from './furniture.ts';
import { refusedTemplate } from './refused-template.ts';
import type { Scenario, Spec } from './scenario.ts';

const one: Spec = { version: '3.6.16', replicas: 1, storage: { size: '1Gi' } };
const three: Spec = { ...one, replicas: 3 };
const five: Spec = { ...one, replicas: 5 };
const vanishing: Spec = { ...three, deletionPolicy: 'Delete' };

const handWritten = {
  oracle: 'O2',
  about: 'ConfigMap/db-members',
  why: 'what somebody has written of a member stays while no majority tells of it, or where it is not named any more',
} as const;

/** Where a member is away while etcd compares, it names nobody, and the operator asks a person. */
const askedInstead: NonNullable<Scenario['mayDiffer']> = [
  { oracle: 'O1', about: 'etcd has raised CORRUPT and names no member' },
  { oracle: 'O2', about: 'etcd has raised CORRUPT and names no member' },
  { oracle: 'O2', about: 'PersistentVolumeClaim/data-db-3-0 is missing' },
  { oracle: 'O5', about: 'it cannot be read: the Service has no endpoint' },
].map((excuse) => ({ ...excuse, why: 'a member is away while etcd compares: nobody is named, and a person is asked' }));

const scenarios: readonly Omit<Scenario, 'engine'>[] = [
  {
    id: 'etcd S1',
    title: 'create',
    act: (stage) => stage.create(three),
    end: 'whole',
    writes: 20,
    written: false,
  },
  {
    id: 'etcd S2',
    title: 'scale out 1→3',
    touches: ['replicas'],
    before: one,
    act: (stage) => stage.change({ replicas: 3 }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'etcd S2 five',
    title: 'scale out 3→5',
    touches: ['replicas'],
    before: three,
    act: (stage) => stage.change({ replicas: 5 }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'etcd S2 again',
    title: 'scale in 3→1, then out again, volumes kept',
    touches: ['replicas'],
    before: three,
    async act(stage) {
      await stage.change({ replicas: 1 });
      // Longer than any fault, a watch that hangs for ten minutes included: all have left before others come.
      await stage.pause(700_000);
      await stage.change({ replicas: 3 });
    },
    end: 'whole',
    writes: 32,
    written: true,
  },
  {
    id: 'etcd S3',
    title: 'scale in 5→3',
    touches: ['replicas'],
    before: five,
    act: (stage) => stage.change({ replicas: 3 }),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'etcd S3 one',
    title: 'scale in 3→1, PVCs deleted',
    touches: ['replicas'],
    before: vanishing,
    act: (stage) => stage.change({ replicas: 1 }),
    end: 'whole',
    writes: 16,
    written: true,
  },
  {
    id: 'etcd S4',
    title: 'config change with restart',
    touches: ['config'],
    before: three,
    act: (stage) => stage.change({ config: { snapshotCount: 5000 } }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'etcd S4 resources',
    title: 'more CPU and memory, in place',
    touches: ['resources'],
    before: three,
    act: (stage) => stage.change({ resources: { requests: { cpu: '500m' }, limits: { memory: '2Gi' } } }),
    end: 'whole',
    writes: 18,
    written: true,
  },
  {
    id: 'etcd S5',
    title: 'version 3.5→3.6',
    touches: ['version'],
    before: { ...three, version: '3.5.35' },
    act: (stage) => stage.change({ version: '3.6.16' }),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'etcd S5 backup',
    mayDiffer: [
      {
        oracle: 'O2',
        about: 'ConfigMap/db-version-backup-task',
        why: 'it names the generation of the resource, and the hour',
      },
    ],
    title: 'version 3.5→3.6, after a backup',
    touches: ['version'],
    before: { ...three, version: '3.5.35', backup: inBucket.place },
    furniture: inBucket.furniture,
    act: (stage) => stage.change({ version: '3.6.16' }),
    resources: ['jobs'],
    end: 'whole',
    writes: 36,
    written: true,
  },
  {
    id: 'etcd S5 back',
    title: 'version 3.6→3.5',
    touches: ['version'],
    before: three,
    act: (stage) => stage.change({ version: '3.5.35' }),
    end: 'whole',
    writes: 28,
    written: true,
  },
  {
    id: 'etcd S7 password',
    title: 'another password of root',
    before: { ...three, auth: { enabled: true, secretRef: { name: 'root-1', key: 'password' } } },
    furniture: [
      secret('root-1', { password: 'the-first-password' }),
      secret('root-2', { password: 'the-second-password', 'password-previous': 'the-first-password' }),
    ],
    // Of another Secret the operator hears at once, of a change inside one within the hour.
    act: (stage) => stage.change({ auth: { secretRef: { name: 'root-2' } } }),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'etcd S9 leader',
    title: "leader's pod lost",
    before: three,
    act: (stage) => stage.deletePod(stage.primary()),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'etcd S9',
    title: "follower's pod lost",
    before: three,
    act: (stage) => stage.deletePod(stage.replica()),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'etcd S10 leader',
    title: "leader's volume lost",
    before: three,
    act: (stage) => stage.loseVolume(stage.primary()),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'etcd S10',
    title: "follower's PVC deleted",
    before: three,
    act: (stage) => stage.loseClaim(stage.replica()),
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'etcd S10 only',
    title: "only member's PVC deleted: the operator forms no new cluster",
    before: one,
    act: (stage) => stage.loseClaim(stage.primary()),
    end: 'blocked',
    writes: 8,
    written: false,
  },
  {
    id: 'etcd S11 retain',
    title: 'delete, data kept',
    before: three,
    act: (stage) => stage.remove(),
    end: 'gone',
    writes: 0,
    written: false,
  },
  {
    id: 'etcd S11 delete',
    title: 'delete, data deleted',
    before: vanishing,
    act: (stage) => stage.remove(),
    end: 'gone',
    writes: 12,
    written: false,
  },
  {
    id: 'etcd S12',
    title: 'delete and recreate, data kept',
    before: three,
    async act(stage) {
      await stage.remove();
      await stage.gone();
      await stage.create(three);
    },
    end: 'whole',
    writes: 20,
    written: true,
  },
  {
    id: 'etcd S13',
    title: 'operator restarted',
    before: three,
    act: (stage) => stage.restartOperator(),
    end: 'whole',
    writes: 2,
    written: true,
  },
  {
    id: 'etcd S13 park',
    title: 'parked (replicas 0), and started again',
    before: three,
    touches: ['replicas'],
    async act(stage) {
      await stage.change({ replicas: 0 });
      await stage.pause(60_000);
      await stage.change({ replicas: 3 });
    },
    end: 'whole',
    writes: 24,
    written: true,
  },
  {
    id: 'etcd S14',
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
  { ...refusedTemplate(three, 15), id: 'etcd S14 class' },
  {
    id: 'etcd S15',
    title: 'majority down for a while: the operator changes nothing',
    before: three,
    act: (stage) => stage.powerOff([stage.primary(), stage.replica()], 120_000),
    end: 'whole',
    writes: 8,
    written: true,
  },
  {
    id: 'etcd S15 volumes',
    mayDiffer: [
      { oracle: 'O2', about: 'EtcdCluster/db', why: 'whose volumes they were is chance, and it names them' },
      {
        oracle: 'O2',
        about: 'PersistentVolumeClaim/',
        why: 'whose volumes they were is chance, and those hold nothing',
      },
      handWritten,
    ],
    title: 'volumes of the majority lost: the operator changes nothing',
    before: three,
    async act(stage) {
      const [leader, follower] = [stage.primary(), stage.replica()];
      await stage.loseClaim(leader);
      await stage.loseClaim(follower);
    },
    end: 'blocked',
    writes: 8,
    written: false,
  },
  {
    id: 'etcd S15 recovery',
    mayDiffer: [
      { oracle: 'O2', about: 'PersistentVolumeClaim/', why: 'whose volumes they were is chance, and they are kept' },
      { oracle: 'O2', about: 'retired', why: 'whose volumes they were is chance, and they are kept' },
      handWritten,
    ],
    title: 'volumes of the majority lost, recovery from a named survivor',
    before: three,
    // The request names the generation that it is for.
    touches: ['replicas', 'config', 'paused'],
    async act(stage) {
      const [leader, follower] = [stage.primary(), stage.replica()];
      const survivor = ['db-0-0', 'db-1-0', 'db-2-0'].find((pod) => pod !== leader && pod !== follower) ?? '';
      await stage.loseClaim(leader);
      await stage.loseClaim(follower);
      // As the status offers it, whenever the operator is there to say so.
      const offer = new RegExp(`${survivor}@[\\w-]+/\\d+/\\d+`);
      while (!offer.test(stage.said())) await stage.pause(5_000);
      await stage.annotate(recoverAnnotation, offer.exec(stage.said())?.[0] ?? '');
    },
    end: 'whole',
    writes: 40,
    written: false,
  },
  {
    id: 'etcd S16',
    title: "follower's data becomes inconsistent, and the CORRUPT alarm names the follower",
    before: vanishing,
    mayDiffer: askedInstead,
    touches: ['replicas'],
    async act(stage) {
      await stage.spoil(stage.replica());
      await stage.compare();
    },
    end: 'whole',
    writes: 28,
    written: true,
  },
  {
    id: 'etcd S16 leader',
    title: "leader's data becomes inconsistent, and the CORRUPT alarm names the leader",
    before: vanishing,
    mayDiffer: askedInstead,
    touches: ['replicas'],
    async act(stage) {
      await stage.spoil(stage.primary());
      await stage.compare();
    },
    end: 'whole',
    writes: 28,
    written: true,
  },
  {
    id: 'etcd S16 nobody',
    mayDiffer: [{ oracle: 'O2', about: 'EtcdCluster/db', why: 'whose data it is is chance, and it names them' }],
    title:
      "follower's data becomes inconsistent, and the alarm of etcd 3.5 names no member: the operator changes nothing",
    before: { ...vanishing, version: '3.5.35' },
    async act(stage) {
      await stage.spoil(stage.replica());
      await stage.compare();
    },
    end: 'blocked',
    writes: 8,
    written: false,
  },
  {
    id: 'etcd S16 good',
    mayDiffer: [
      { oracle: 'O2', about: 'EtcdCluster/db', why: 'whose data it is is chance, and it names them' },
      {
        oracle: 'O1',
        about: 'and not blocked',
        why: 'a leader that starts again meanwhile is found out and replaced, and nobody finds one that is cut off',
      },
      {
        oracle: 'O2',
        about: 'data-db-3-0 is left over',
        why: 'a leader that starts again meanwhile is found out and replaced',
      },
    ],
    title: "the leader's data is corrupt, so a follower with correct data does not start: the operator changes nothing",
    before: vanishing,
    async act(stage) {
      await stage.spoil(stage.primary());
      await stage.deletePod(stage.replica());
    },
    end: 'blocked',
    writes: 8,
    written: false,
  },
];

export const etcdScenarios: readonly Scenario[] = scenarios.map((scenario) => ({ engine: 'etcd', ...scenario }));
