/** The simulated Kubernetes under the suite that a real one passes too. */
import { sceneOn } from './conformance/scene.ts';
import { kubernetesConformance } from './conformance/suite.ts';
import { tinyProgram } from './tiny-program.ts';
import { namespace, tinyWorld } from './tiny-world.ts';

const container = { name: 'main', image: 'localhost/tiny:1', command: ['sleep', '3600'] };
let seed = 0;

kubernetesConformance('the simulated Kubernetes', async () => ({
  runsPods: true,
  async play(story) {
    const program = tinyProgram({ answers: { false: () => false, 'exit 1': () => false } });
    // As with the storage class that the sandbox has.
    const { time, kubernetes, run } = tinyWorld(
      ++seed,
      (image) => (image.startsWith('registry.invalid/') ? undefined : program),
      { claimsGrow: false },
    );
    const transport = kubernetes.transport('user');
    await run(story(sceneOn({ transport, clock: time, namespace, container, patienceMs: 60_000 })));
  },
  close: async () => undefined,
}));
