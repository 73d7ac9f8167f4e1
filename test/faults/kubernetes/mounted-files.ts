/**
 * Files of mounted ConfigMaps and Secrets as a kubelet shows them: a change reaches the pod with the kubelet's next look,
 * up to a minute later, or when one of its containers starts.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';
import type { Store } from './store.ts';

export interface MountedFiles {
  /** What is mounted and does not exist: `configmap "redis"`. */
  missing(): string | undefined;
  /** Shows everything as it is now. */
  refresh(): void;
  /** A ConfigMap or Secret has changed; the pod sees it at that time. */
  changed(object: KubeObject, visibleAt: number): void;
  read(container: Fields, path: string, now: number): string | undefined;
}

interface Source {
  readonly plural: 'configmaps' | 'secrets';
  readonly name: string;
  readonly optional: boolean;
  /** Path in the volume to key; undefined: every key under its own name. */
  readonly items: ReadonlyMap<string, string> | undefined;
  shown: KubeObject | undefined;
  pending: { readonly object: KubeObject; readonly at: number }[];
}

export function mountedFiles(pod: KubeObject, store: Pick<Store, 'get'>): MountedFiles {
  const { namespace } = pod.metadata;
  const all = (): Source[] => [...sources.values()].flat();
  const sources = new Map<string, readonly Source[]>();
  for (const volume of itemsIn(fieldsIn(pod.spec).volumes)) {
    sources.set(String(volume.name), sourcesOf(volume));
  }

  return {
    missing() {
      for (const { plural, name, optional } of all()) {
        if (!optional && store.get(plural, namespace, name) === undefined) return `${plural.slice(0, -1)} "${name}"`;
      }
      return undefined;
    },
    refresh() {
      for (const source of all()) {
        source.shown = store.get(source.plural, namespace, source.name) ?? source.shown;
        source.pending = [];
      }
    },
    changed(object, at) {
      for (const source of all()) {
        const isIt =
          source.name === object.metadata.name &&
          object.metadata.namespace === namespace &&
          source.plural === (object.kind === 'Secret' ? 'secrets' : 'configmaps');
        if (isIt) source.pending.push({ object, at });
      }
    },
    read(container, path, now) {
      for (const mount of itemsIn(container.volumeMounts)) {
        const root = `${String(mount.mountPath).replace(/\/$/, '')}/`;
        if (!path.startsWith(root)) continue;
        const file = path.slice(root.length);
        for (const source of sources.get(String(mount.name)) ?? []) {
          const key = source.items === undefined ? file : source.items.get(file);
          if (key !== undefined) return textOfKey(shownNow(source, now), key);
        }
      }
      return undefined;
    },
  };
}

function shownNow(source: Source, now: number): KubeObject | undefined {
  const visible = source.pending.filter(({ at }) => at <= now).at(-1);
  if (visible === undefined) return source.shown;
  source.shown = visible.object;
  source.pending = source.pending.filter(({ at }) => at > now);
  return source.shown;
}

/** Each namespace has it, with what the API server's certificate is checked by. */
const publishedName = 'kube-root-ca.crt';

/** A projected volume has several. */
function sourcesOf(volume: Fields): readonly Source[] {
  const from = volume.projected === undefined ? [volume] : itemsIn(fieldsIn(volume.projected).sources);
  return from.flatMap((one) => sourceOf(one) ?? []).filter(({ name }) => name !== publishedName);
}

function sourceOf(volume: Fields): Source | undefined {
  const [configMap, secret] = [volume.configMap, volume.secret];
  const from = fieldsIn(configMap ?? secret);
  if (configMap === undefined && secret === undefined) return undefined;
  const items = itemsIn(from.items).map(({ key, path }): [string, string] => [String(path), String(key)]);
  return {
    plural: configMap === undefined ? 'secrets' : 'configmaps',
    name: String(from.name ?? from.secretName),
    optional: from.optional === true,
    items: from.items === undefined ? undefined : new Map(items),
    shown: undefined,
    pending: [],
  };
}

/** A value of a ConfigMap or Secret as text. */
export function textOfKey(object: KubeObject | undefined, key: string): string | undefined {
  const value = fieldsIn(object?.data)[key];
  if (typeof value !== 'string') return undefined;
  return object?.kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value;
}
