/** The manifests that ship with this package, as `up` applies them and `down` takes them back. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../api/object.ts';
import { CommandError } from '../fault.ts';
import { parseManifest } from '../manifest.ts';

export interface Manifests {
  readonly crds: readonly KubeObject[];
  readonly operator: readonly KubeObject[];
  readonly samples: readonly KubeObject[];
}

/** Where `package.json` is: above this file, compiled or not. */
export function packageRoot(from: string = import.meta.dirname): string {
  if (existsSync(join(from, 'package.json'))) return from;
  const above = dirname(from);
  if (above === from) throw new Error('there is no package.json above this program');
  return packageRoot(above);
}

export async function readManifests(root: string): Promise<Manifests> {
  const read = async (name: string): Promise<KubeObject[]> => {
    const file = join(root, 'dist', name);
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (cause) {
      throw new CommandError(`${file} cannot be read; it is made with: npm run synth`, { cause });
    }
    return parseManifest(file, text).map(({ value }) => value as KubeObject);
  };
  const [crds, operator, samples] = await Promise.all([
    read('0000-crds.k8s.yaml'),
    read('0001-operator.k8s.yaml'),
    read('0002-samples.k8s.yaml'),
  ]);
  return { crds, operator, samples };
}

interface PodContainer {
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

interface PodTemplate {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly PodContainer[] };
}

const bundleAnnotation = 'clusterwright.dev/bundle';

/**
 * The operator with another image.
 *
 * @param bundle what is in the image, where its name does not tell: another content restarts the pods
 */
export function withImage(operator: readonly KubeObject[], image: string, bundle?: string): KubeObject[] {
  return operator.map((object) => {
    if (object.kind !== 'Deployment') return object;
    const spec = object.spec as { readonly template: PodTemplate };
    const { metadata = {}, spec: podSpec } = spec.template;
    const annotations =
      bundle === undefined ? metadata.annotations : { ...metadata.annotations, [bundleAnnotation]: bundle };
    const template = {
      ...spec.template,
      metadata: { ...metadata, ...(annotations === undefined ? {} : { annotations }) },
      spec: { ...podSpec, containers: podSpec.containers.map((container) => withContainerImage(container, image)) },
    };
    return { ...object, spec: { ...spec, template } };
  });
}

/** The operator tells the Jobs that it makes which image it runs itself. */
function withContainerImage(container: PodContainer, image: string): PodContainer {
  const { env } = container;
  const told = env?.map((variable) =>
    variable.name === 'CLUSTERWRIGHT_AGENT_IMAGE' ? { ...variable, value: image } : variable,
  );
  return { ...container, image, ...(told === undefined ? {} : { env: told }) };
}

/** The samples that are of the kinds that come with them. */
export function sampleClusters({ crds, samples }: Pick<Manifests, 'crds' | 'samples'>): readonly KubeObject[] {
  const kinds = crds.map(({ spec }) => (spec as { readonly names: { readonly kind: string } }).names.kind);
  return samples.filter(({ kind }) => kinds.includes(kind));
}
