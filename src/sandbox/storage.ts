/**
 * Volumes: the local-path provisioner, once on the machine. A claim becomes a directory under the data directory, bound
 * to the node on which it was first used; a pod with a claim does not move.
 *
 * Of the class `local-path` it is a plain directory and has no end. Of `local-path-limited` it is a file system of its
 * own in a file, with as much free as the claim asks: slower, and it can be full. It grows with its claim (`resizer.ts`).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../api/object.ts';
import type { ApiClient } from './apiserver.ts';
import { binaryPath } from './binaries.ts';
import { busyboxImage } from './images/base.ts';
import { kubeconfigPath, type Layout, paths } from './layout.ts';
import type { Daemon } from './process.ts';

const namespace = 'kube-system';
const configMap = 'local-path-config';
const serviceAccount = 'local-path-provisioner-service-account';

/** How many times the size that it begins with a limited volume can have. */
const mostGrowth = 8;

/** The default storage class. */
export const plainClass = 'local-path';
export const limitedClass = 'local-path-limited';

/** The provisioner's configuration: for every class one directory on all nodes. */
export function volumeConfig(layout: Layout): object {
  const { volumes, limitedVolumes } = paths(layout);
  const directory = (path: string): object => ({
    nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [path] }],
  });
  return { storageClassConfigs: { [plainClass]: directory(volumes), [limitedClass]: directory(limitedVolumes) } };
}

/**
 * What makes and removes a volume's directory, run in a pod of the volume's node.
 *
 * A limited volume is mounted by the machine itself: a mount made in the pod would end with it. So the pod sees the
 * machine's processes, and acts in the mount namespace of its own parent, containerd's shim.
 */
export function volumeScripts(layout: Layout): { readonly setup: string; readonly teardown: string } {
  const script = (plain: string, limited: string): string =>
    `#!/bin/sh
set -e
case "$VOL_DIR" in
  ${paths(layout).limitedVolumes}/*) nsenter -t $PPID -m -- /bin/sh -ec '${limited}' sh "$VOL_DIR" "$VOL_SIZE_BYTES" ;;
  *) ${plain} ;;
esac
`;
  return {
    setup: script(
      'mkdir -m 0777 -p "$VOL_DIR"',
      [
        'mkdir -p "$1" "$1.fs"',
        `truncate -s $(($2 * ${mostGrowth})) "$1.img"`,
        'mkfs.ext4 -q -F -m 0 -N 65536 "$1.img"',
        'mount -o loop "$1.img" "$1.fs"',
        // Databases start in an empty directory or not at all.
        'mkdir -m 0777 "$1.fs/data"',
        // To grow a mounted ext4 takes CAP_SYS_RESOURCE, which even root may not have. Room that a file has is given back.
        'fallocate -l $(($(stat -f -c "%a*%S" "$1.fs") - $2)) "$1.fs/reserve"',
        'mount --bind "$1.fs/data" "$1"',
      ].join('; '),
    ),
    teardown: script('rm -rf "$VOL_DIR"', 'umount "$1" "$1.fs"; rm -rf "$1" "$1.fs" "$1.img"'),
  };
}

function storageClass(
  name: string,
  annotations: Readonly<Record<string, string>>,
  allowVolumeExpansion: boolean,
): KubeObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, annotations },
    provisioner: 'rancher.io/local-path',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion,
  };
}

const helperPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'helper-pod' },
  spec: {
    hostPID: true,
    containers: [
      {
        name: 'helper-pod',
        image: busyboxImage,
        imagePullPolicy: 'IfNotPresent',
        securityContext: { privileged: true },
      },
    ],
  },
};

export async function createStorageObjects(api: ApiClient, layout: Layout): Promise<void> {
  const config: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMap, namespace },
    data: {
      'config.json': JSON.stringify(volumeConfig(layout)),
      ...volumeScripts(layout),
      'helperPod.yaml': JSON.stringify(helperPod),
    },
  };
  const account: KubeObject = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: serviceAccount, namespace },
  };
  const classes = '/apis/storage.k8s.io/v1/storageclasses';
  await Promise.all([
    api.create(classes, storageClass(plainClass, { 'storageclass.kubernetes.io/is-default-class': 'true' }, false)),
    api.create(classes, storageClass(limitedClass, {}, true)),
    api.create(`/api/v1/namespaces/${namespace}/configmaps`, config),
    api.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, account),
  ]);
}

export async function provisioner(layout: Layout): Promise<Daemon> {
  const file = join(layout.run, 'local-path.json');
  const { volumes, limitedVolumes } = paths(layout);
  await Promise.all([volumes, limitedVolumes].map((directory) => mkdir(directory, { recursive: true })));
  await writeFile(file, JSON.stringify(volumeConfig(layout)));
  const args = {
    config: file,
    kubeconfig: kubeconfigPath(layout, 'local-path'),
    namespace,
    'configmap-name': configMap,
    'helper-image': busyboxImage,
    'service-account-name': serviceAccount,
  };
  return {
    name: 'local-path-provisioner',
    command: binaryPath(layout, 'local-path-provisioner'),
    args: ['start', ...Object.entries(args).flatMap(([flag, value]) => [`--${flag}`, value])],
  };
}
