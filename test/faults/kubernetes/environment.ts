/**
 * The environment of a container: what its spec says, with references resolved. A container whose environment refers to
 * a key that is not there, and not optional, is not started.
 */
import type { KubeObject } from '../../../src/api/object.ts';
import { type Fields, fieldsIn, itemsIn } from './fields.ts';
import { textOfKey } from './mounted-files.ts';
import { nodeNameOf } from './pod.ts';
import type { Store } from './store.ts';

/** Undefined while a key that it needs is not there. */
export function environmentOf(
  container: Fields,
  pod: KubeObject,
  ip: string,
  store: Pick<Store, 'get'>,
): Record<string, string> | undefined {
  const env: Record<string, string> = {};
  for (const { name, value, valueFrom } of itemsIn(container.env)) {
    const from = fieldsIn(valueFrom);
    const text = valueFrom === undefined ? expanded(String(value ?? ''), env) : reference(from, pod, ip, store);
    if (text !== undefined) env[String(name)] = text;
    else if (fieldsIn(from.secretKeyRef ?? from.configMapKeyRef).optional !== true) return undefined;
  }
  return env;
}

/** `$(NAME)` of the environment, and `$$` for one that is none. What is not known stays as it is. */
export function expanded(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, _, name: string | undefined) =>
    name === undefined ? '$' : (env[name] ?? whole),
  );
}

function reference(from: Fields, pod: KubeObject, ip: string, store: Pick<Store, 'get'>): string | undefined {
  if (from.fieldRef !== undefined) return fieldOf(String(fieldsIn(from.fieldRef).fieldPath), pod, ip);
  const isSecret = from.secretKeyRef !== undefined;
  const { name, key } = fieldsIn(from.secretKeyRef ?? from.configMapKeyRef);
  const source = store.get(isSecret ? 'secrets' : 'configmaps', pod.metadata.namespace, String(name));
  return textOfKey(source, String(key));
}

function fieldOf(path: string, pod: KubeObject, ip: string): string {
  const [, map, key = ''] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  if (map === 'labels' || map === 'annotations') return pod.metadata[map]?.[key] ?? '';
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace ?? '';
    case 'metadata.uid':
      return pod.metadata.uid ?? '';
    case 'spec.nodeName':
      return nodeNameOf(pod) ?? '';
    case 'status.podIP':
      return ip;
    default:
      throw new Error(`a container cannot have ${path} in its environment here`);
  }
}
