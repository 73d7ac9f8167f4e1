/**
 * Fills a volume until nothing more can be written to it, under a running pod, and finds where one is.
 *
 * Only a volume of the class `local-path-limited` has an end: it is a file system of its own, as large as its claim asks.
 * A volume of the default class is a directory on the machine's disk, which is not filled.
 */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiClient, apiClient } from '../apiserver.ts';
import { codeOf, SandboxError } from '../error.ts';
import { type Layout, layoutOf, paths } from '../layout.ts';
import { mountPoints } from '../mount.ts';
import { requireRunning } from '../state.ts';
import { limitedClass } from '../storage.ts';
import { type FoundPod, findPod, type PodRef, podName } from './pod.ts';

/** Which volume of a pod, needed where it has several claims. */
export interface VolumeChoice {
  /** A directory in one of its containers. */
  readonly path?: string;
  readonly claim?: string;
}

/** In the volume's root. */
export const ballastName = '.clusterwright-ballast';

/** Writes a file into the volume until it is full; returns the bytes written. Repeated, it fills what was freed. */
export async function fillVolume(
  pod: PodRef,
  choice: VolumeChoice = {},
  layout: Layout = layoutOf(process.env),
): Promise<number> {
  return await writeBallast(join(await limitedDirectory(pod, choice, layout), ballastName));
}

/** Removes what {@link fillVolume} wrote. */
export async function freeVolume(
  pod: PodRef,
  choice: VolumeChoice = {},
  layout: Layout = layoutOf(process.env),
): Promise<void> {
  await rm(join(await limitedDirectory(pod, choice, layout), ballastName), { force: true });
}

async function writeBallast(path: string): Promise<number> {
  const file = await open(path, 'a');
  let written = 0;
  try {
    // Large pieces while they fit, then the smallest: no block is left.
    for (const size of [1 << 20, 1 << 12, 1]) {
      const piece = Buffer.alloc(size);
      for (;;) {
        const wrote = await file.write(piece).then(
          ({ bytesWritten }) => bytesWritten,
          (error: unknown) => {
            if (codeOf(error) === 'ENOSPC') return 0;
            throw error;
          },
        );
        written += wrote;
        if (wrote < size) break;
      }
      // Space is only promised until it is on the disk.
      await file.sync().catch((error: unknown) => {
        if (codeOf(error) !== 'ENOSPC') throw error;
      });
    }
  } finally {
    await file.close();
  }
  return written;
}

/** Where a volume of a pod is on this machine, for whoever damages what is in it. */
export async function volumeDirectory(
  pod: PodRef,
  choice: VolumeChoice = {},
  layout: Layout = layoutOf(process.env),
): Promise<string> {
  const { directory } = await foundVolume(pod, choice, layout);
  return directory;
}

async function limitedDirectory(pod: PodRef, choice: VolumeChoice, layout: Layout): Promise<string> {
  const { directory, claim } = await foundVolume(pod, choice, layout);
  if ((await mountPoints([paths(layout).limitedVolumes])).includes(directory)) return directory;
  throw new SandboxError(
    `the claim ${claim} is a directory on this machine's disk, which is not filled; ` +
      `a claim with storageClassName ${limitedClass} can be`,
  );
}

interface FoundVolume {
  readonly claim: string;
  readonly directory: string;
}

async function foundVolume(pod: PodRef, choice: VolumeChoice, layout: Layout): Promise<FoundVolume> {
  const state = await requireRunning(layout);
  const api = await apiClient(layout, state.nodes);
  try {
    const claim = chooseClaim(await findPod(api, pod), choice);
    return { claim, directory: await claimDirectory(api, pod.namespace, claim) };
  } finally {
    api.close();
  }
}

export function chooseClaim(pod: FoundPod, choice: VolumeChoice): string {
  const { path } = choice;
  const under = pod.containers.flatMap(({ mounts }) =>
    path === undefined ? [] : mounts.filter((mount) => path === mount.path || path.startsWith(`${mount.path}/`)),
  );
  // Of nested mounts the innermost counts.
  const volume = under.toSorted((one, other) => other.path.length - one.path.length)[0]?.volume;
  const [first, second] = pod.claims.filter(
    (each) => (choice.claim ?? each.claim) === each.claim && (path === undefined || each.volume === volume),
  );
  const names = pod.claims.map((each) => each.claim).join(', ') || 'none';
  if (first === undefined) throw new SandboxError(`no such volume in ${podName(pod.ref)}; its claims: ${names}`);
  if (second !== undefined) throw new SandboxError(`${podName(pod.ref)} has several claims, name one: ${names}`);
  return first.claim;
}

async function claimDirectory(api: ApiClient, namespace: string, claim: string): Promise<string> {
  const found = await api.get<{ readonly spec: { readonly volumeName?: string } }>(
    `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claim}`,
  );
  const volume = await api.get<{
    readonly spec: { readonly hostPath?: { readonly path: string }; readonly local?: { readonly path: string } };
  }>(`/api/v1/persistentvolumes/${found?.spec.volumeName}`);
  const directory = volume?.spec.local?.path ?? volume?.spec.hostPath?.path;
  if (directory === undefined)
    throw new SandboxError(`the claim ${claim} in ${namespace} is not bound to a volume yet`);
  return directory;
}
