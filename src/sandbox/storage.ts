/**
 * Volumes: a claim becomes a directory under the data directory, bound to the node on which it was first used; a pod with a claim
 * does not move.
 *
 * Of the class `local-path` it is a plain directory and has no end. Of `local-path-limited` it is a file system of its
 * own in a file, as large as the claim asks: slower, and it can be full. It grows with its claim.
 */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { KubeObject } from '../api/object.ts';
import type { ApiClient } from './apiserver.ts';
import { binaryPath } from './binaries.ts';
import { kubeconfigPath, type Layout, paths } from './layout.ts';
import type { Daemon } from './process.ts';
import { texts } from './shell/texts.ts';

/** The default storage class. */
export const plainClass = 'local-path';
export const limitedClass = 'local-path-limited';

export function storageClass(
  name: string,
  annotations: Readonly<Record<string, string>>,
  allowVolumeExpansion: boolean,
): KubeObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, annotations },
    provisioner: 'clusterwright.dev/local-path',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion,
  };
}

export async function createStorageObjects(api: ApiClient): Promise<void> {
  const classes = '/apis/storage.k8s.io/v1/storageclasses';
  await Promise.all([
    api.create(classes, storageClass(plainClass, { 'storageclass.kubernetes.io/is-default-class': 'true' }, false)),
    api.create(classes, storageClass(limitedClass, {}, true)),
  ]);
}

/** Once on the machine: all nodes share its disk. */
export async function provisioner(layout: Layout): Promise<Daemon> {
  const { volumes, limitedVolumes } = paths(layout);
  await Promise.all([volumes, limitedVolumes].map((directory) => mkdir(directory, { recursive: true })));
  return {
    name: 'volumes',
    command: '/usr/bin/env',
    args: [
      `KUBECONFIG=${kubeconfigPath(layout, 'volumes')}`,
      `PATH=${dirname(binaryPath(layout, 'kubectl'))}:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin`,
      `PLAIN=${volumes}`,
      `LIMITED=${limitedVolumes}`,
      '/bin/sh',
      '-c',
      texts['volumes.sh'],
    ],
  };
}
