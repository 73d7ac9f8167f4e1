/**
 * Volumes: the local-path provisioner, once on the machine. A claim becomes a directory under the data directory, bound
 * to the node on which it was first used; a pod with a claim does not move.
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

/** The provisioner's configuration: one directory for all nodes. */
export function volumeConfig(layout: Layout): object {
  return { nodePathMap: [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [paths(layout).volumes] }] };
}

const storageClass: KubeObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local-path', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'rancher.io/local-path',
  volumeBindingMode: 'WaitForFirstConsumer',
};

const helperPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'helper-pod' },
  spec: { containers: [{ name: 'helper-pod', image: busyboxImage, imagePullPolicy: 'IfNotPresent' }] },
};

export async function createStorageObjects(api: ApiClient, layout: Layout): Promise<void> {
  const config: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMap, namespace },
    data: {
      'config.json': JSON.stringify(volumeConfig(layout)),
      setup: '#!/bin/sh\nmkdir -m 0777 -p "$VOL_DIR"\n',
      teardown: '#!/bin/sh\nrm -rf "$VOL_DIR"\n',
      'helperPod.yaml': JSON.stringify(helperPod),
    },
  };
  const account: KubeObject = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: serviceAccount, namespace },
  };
  await Promise.all([
    api.create('/apis/storage.k8s.io/v1/storageclasses', storageClass),
    api.create(`/api/v1/namespaces/${namespace}/configmaps`, config),
    api.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, account),
  ]);
}

export async function provisioner(layout: Layout): Promise<Daemon> {
  const file = join(layout.run, 'local-path.json');
  await mkdir(paths(layout).volumes, { recursive: true });
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
