/** The two images that the sandbox itself needs, both of them Debian's static busybox. */

/** Holds a pod's namespaces. */
export const pauseImage = 'registry.k8s.io/pause:3.10';

/** Creates and removes the directories of volumes. */
export const busyboxImage = 'docker.io/library/busybox:latest';
