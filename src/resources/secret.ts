import type { KubeObject, ObjectMeta } from '../api/object.ts';

/**
 * A Secret without values: the executor fills it with fresh random text when it creates it, and only then. `around`: values that contain a
 * generated one, in the place of its key in braces: `postgresql://app:{password}@db`.
 */
export function generatedSecret(metadata: ObjectMeta, around?: Readonly<Record<string, string>>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    type: 'Opaque',
    ...(around === undefined ? {} : { stringData: around }),
  };
}

/** Which values of the Service Binding specification (servicebinding.io) say what the Secret leads to. */
export function bindingOf(type: string): Readonly<Record<'type' | 'provider', string>> {
  return { type, provider: 'clusterwright' };
}

/** Whether a Secret has all that a workload is bound with: a type is what the specification asks for, the others are where to connect. */
export function isBindable(values: Readonly<Record<string, string>> | undefined): boolean {
  return ['type', 'host', 'port', 'username', 'password', 'uri'].every((key) => (values?.[key] ?? '') !== '');
}

/** The values of such a Secret, where these were generated. */
export function filledSecret(object: KubeObject, generated: Readonly<Record<string, string>>): Record<string, string> {
  const around = (object.stringData ?? {}) as Readonly<Record<string, string>>;
  const filled = Object.entries(around).map(([key, text]) => [
    key,
    Object.entries(generated).reduce((done, [name, value]) => done.replaceAll(`{${name}}`, value), text),
  ]);
  return { ...Object.fromEntries(filled), ...generated };
}
