/**
 * Image archives: one tar that is both an OCI layout and what `docker load` takes.
 *
 * Layers are not compressed: they are copied about on one machine, where packing costs more than it saves.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ImageConfig } from '../../engine/image-recipe.ts';
import type { Architecture } from '../machine.ts';
import { tarEnd, tarFile, tarHeader, tarPadding } from './tar.ts';

/** A layer as a file. */
export interface Layer {
  readonly path: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  readonly size: number;
}

export interface Image {
  /** The full reference, as a pod names it. */
  readonly reference: string;
  readonly layers: readonly Layer[];
  readonly config: ImageConfig;
}

const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

interface Document {
  readonly json: string;
  readonly digest: string;
  readonly size: number;
}

export function imageConfig(image: Image, architecture: Architecture['image']): object {
  const { entrypoint, env = [], user } = image.config;
  return {
    architecture,
    os: 'linux',
    config: {
      Env: [path, ...env],
      ...(entrypoint === undefined ? {} : { Entrypoint: entrypoint }),
      ...(user === undefined ? {} : { User: user }),
    },
    rootfs: { type: 'layers', diff_ids: image.layers.map((layer) => layer.digest) },
  };
}

/** Writes the archive of one or several images; the file is there whole or not at all. */
export async function writeArchive(
  images: readonly Image[],
  target: string,
  architecture: Architecture['image'],
): Promise<void> {
  const temporary = `${target}.${process.pid}.new`;
  try {
    await pipeline(Readable.from(archiveParts(images, architecture)), createWriteStream(temporary));
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The bytes of the archive: what identifies the images comes first, layers last, each blob once. */
export async function* archiveParts(
  images: readonly Image[],
  architecture: Architecture['image'],
): AsyncGenerator<Buffer> {
  const described = images.map((image) => {
    const config = document(imageConfig(image, architecture));
    const manifest = document({
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: { mediaType: mediaTypes.config, digest: config.digest, size: config.size },
      layers: image.layers.map(({ digest, size }) => ({ mediaType: mediaTypes.layer, digest, size })),
    });
    return { image, config, manifest };
  });
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: described.map(({ image, manifest }) => ({
      mediaType: mediaTypes.manifest,
      digest: manifest.digest,
      size: manifest.size,
      annotations: { 'io.containerd.image.name': image.reference },
    })),
  };
  const forDocker = described.map(({ image, config }) => ({
    Config: blobName(config.digest),
    RepoTags: [image.reference],
    Layers: image.layers.map((layer) => blobName(layer.digest)),
  }));
  yield tarFile('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  yield tarFile('index.json', JSON.stringify(index));
  yield tarFile('manifest.json', JSON.stringify(forDocker));
  const written = new Set<string>();
  for (const { digest, json } of described.flatMap(({ config, manifest }) => [manifest, config])) {
    if (written.has(digest)) continue;
    written.add(digest);
    yield tarFile(blobName(digest), json);
  }
  for (const layer of images.flatMap((image) => image.layers)) {
    if (written.has(layer.digest)) continue;
    written.add(layer.digest);
    yield tarHeader({ name: blobName(layer.digest), type: 'file', mode: 0o644, size: layer.size });
    yield* createReadStream(layer.path, { highWaterMark: 1 << 20 });
    yield tarPadding(layer.size);
  }
  yield tarEnd;
}

/** `blobs/sha256/...` of a digest. */
export function blobName(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** Digest and size of a layer that is a file. */
export async function measureLayer(file: string): Promise<Layer> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const part of createReadStream(file, { highWaterMark: 1 << 20 })) {
    hash.update(part as Buffer);
    size += (part as Buffer).length;
  }
  return { path: file, digest: `sha256:${hash.digest('hex')}`, size };
}

function document(value: object): Document {
  const json = JSON.stringify(value);
  return { json, digest: `sha256:${createHash('sha256').update(json).digest('hex')}`, size: Buffer.byteLength(json) };
}
