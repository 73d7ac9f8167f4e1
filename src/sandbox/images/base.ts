/** The two images that the sandbox itself needs, both of them Debian's static busybox. */
import type { LayerRecipe } from '../../engine/image-recipe.ts';

/** Holds a pod's namespaces. */
export const pauseImage = 'registry.k8s.io/pause:3.10';

/** Creates and removes the directories of volumes; a shell for tests. */
export const busyboxImage = 'docker.io/library/busybox:latest';

export const busyboxLayer: LayerRecipe = {
  kind: 'busybox',
  links: ['sh', 'cat', 'chmod', 'mkdir', 'nsenter', 'rm', 'sleep'],
};

export const baseImages = [
  { reference: pauseImage, config: { entrypoint: ['/bin/busybox', 'sleep', '2147483647'] } },
  { reference: busyboxImage, config: {} },
] as const;
