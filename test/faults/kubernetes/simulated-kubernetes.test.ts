/** The simulated Kubernetes under the suite that a real one passes too. */
import { expect } from 'vitest';
import { customResourceDefinition } from '../../../src/api/crd.ts';
import { redisKind } from '../../../src/api/redis.ts';
import { seeded } from '../world/random.ts';
import { simulatedNetwork } from '../world/simulated-network.ts';
import { type VirtualTime, virtualTime } from '../world/time.ts';
import { sceneOn } from './conformance/scene.ts';
import { kubernetesConformance } from './conformance/suite.ts';
import { simulatedKubernetes } from './simulated-kubernetes.ts';
import { tinyProgram } from './tiny-program.ts';

const namespace = 'conformance';

function world(seed: number) {
  const time = virtualTime();
  const random = seeded(seed);
  const network = simulatedNetwork(time, random);
  const images = () => tinyProgram({ answers: { false: () => false } });
  const crds = [customResourceDefinition(redisKind)];
  const kubernetes = simulatedKubernetes({ time, random, network, images, crds, namespaces: [namespace] });
  return { time, kubernetes };
}

/** Lets time pass until the promise has settled. */
async function run(time: VirtualTime, work: Promise<void>): Promise<void> {
  let settled = false;
  const done = (): void => {
    settled = true;
  };
  work.then(done, done);
  await time.advanceUntil(() => settled, 600_000);
  expect(settled).toBe(true);
  await work;
}

const container = { name: 'main', image: 'localhost/tiny:1', command: ['sleep', '3600'] };
let seed = 0;

kubernetesConformance('the simulated Kubernetes', async () => ({
  runsPods: true,
  async play(story) {
    const { time, kubernetes } = world(++seed);
    const transport = kubernetes.transport('user');
    await run(time, story(sceneOn({ transport, clock: time, namespace, container, patienceMs: 60_000 })));
  },
  close: async () => undefined,
}));
