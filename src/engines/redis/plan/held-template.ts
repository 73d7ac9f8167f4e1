/**
 * Changes of a pod template that are no reason to restart a pod by themselves.
 *
 * The mounted identity and the mounted certificate come into templates that are made now, and into older ones together with the next change
 * that restarts the pods anyway. A certificate that is asked for is such a change. The Secret of the password stays the one that the servers know, as long as they do not know
 * the other.
 */
import type { KubeObject } from '../../../api/object.ts';
import { isResourcePath } from '../../../plan/container-resources.ts';
import { difference, fingerprinted, templatePaths } from '../../../plan/difference.ts';
import { memoize } from '../../../plan/memoize.ts';
import type { ContainerSpec, PodSpec, Volume } from '../../../resources/plain.ts';
import { certificateVolume, identityVolume } from '../names.ts';
import { exporterName } from '../resources/exporter.ts';
import { authVolume, certificateEnv, certificatePort, identityEnv, passwordVolume } from '../resources/pods.ts';

export interface Holding {
  /** The Secret with the identity is there, and is of use. */
  readonly mayMountIdentity: boolean;
  /** Servers run that do not know the password that the Secret says. */
  readonly keepsPassword: boolean;
  /** The spec asks for TLS: pods of before have nowhere to take the certificate from. */
  readonly needsCertificate: boolean;
}

interface Templated {
  readonly template: { readonly spec: PodSpec };
}

const specOf = (object: KubeObject): Templated => object.spec as Templated;
const volumeOf = (object: KubeObject, name: string): Volume | undefined =>
  specOf(object).template.spec.volumes?.find((volume) => volume.name === name);

function withPod(object: KubeObject, change: (pod: PodSpec) => PodSpec): KubeObject {
  const spec = specOf(object);
  return { ...object, spec: { ...spec, template: { ...spec.template, spec: change(spec.template.spec) } } };
}

/** Whoever starts by this template waits for the Secret. */
export const mountsIdentity = (live: KubeObject): boolean => volumeOf(live, identityVolume) !== undefined;

/** Whoever starts by this template can have a certificate. */
export const mountsCertificate = (live: KubeObject): boolean => volumeOf(live, certificateVolume) !== undefined;

const stripped =
  (volume: string, variable: string) =>
  (container: ContainerSpec): ContainerSpec => ({
    ...container,
    env: (container.env ?? []).filter(({ name }) => name !== variable),
    volumeMounts: (container.volumeMounts ?? []).filter(({ name }) => name !== volume),
  });

export const withoutCertificate = memoize((object: KubeObject): KubeObject => {
  if (!mountsCertificate(object)) return object;
  const strip = stripped(certificateVolume, certificateEnv);
  return withPod(object, (pod) => ({
    ...pod,
    ...(pod.initContainers === undefined ? {} : { initContainers: pod.initContainers.map(strip) }),
    containers: pod.containers.map(strip).map((container) => {
      const ports = container.ports?.filter(({ name }) => name !== certificatePort.name);
      return { ...container, ...(ports === undefined ? {} : { ports }) };
    }),
    volumes: (pod.volumes ?? []).filter(({ name }) => name !== certificateVolume),
  }));
});

export const withoutIdentity = memoize((object: KubeObject): KubeObject => {
  const strip = stripped(identityVolume, identityEnv);
  // The exporter has no other password.
  const isLeftOut = ({ name }: Volume): boolean => name === identityVolume || name === exporterName;
  return withPod(object, ({ initContainers: _, ...pod }) => ({
    ...pod,
    containers: pod.containers.map(strip),
    volumes: (pod.volumes ?? []).filter((volume) => !isLeftOut(volume)),
  }));
});

const isMonitored = (object: KubeObject): boolean => specOf(object).template.spec.initContainers !== undefined;

/** Name and key of the Secret with whose password pods start. */
export function mountedPassword(live: KubeObject): { readonly name: string; readonly key: string } | undefined {
  const secret = volumeOf(live, authVolume)?.secret;
  const [item] = secret?.items ?? [];
  if (secret?.secretName === undefined || item === undefined) return undefined;
  return { name: secret.secretName, key: item.key };
}

/** The StatefulSet to apply where `live` is there. */
export function heldBack(wanted: KubeObject, live: KubeObject, holding: Holding): KubeObject {
  const mounted = holding.keepsPassword ? mountedPassword(live) : undefined;
  // As we write it: without what the API server has filled in.
  const object =
    mounted === undefined
      ? wanted
      : withPod(wanted, (pod) => ({
          ...pod,
          volumes: (pod.volumes ?? []).map((one) => (one.name === authVolume ? passwordVolume(mounted) : one)),
        }));
  const hasIdentity = mountsIdentity(live);
  const hasCertificate = mountsCertificate(live) || !mountsCertificate(object);
  if (hasIdentity && hasCertificate) return object;
  const next = hasIdentity || holding.mayMountIdentity ? object : withoutIdentity(object);
  const known = hasIdentity ? object : withoutIdentity(object);
  const older = hasCertificate ? known : withoutCertificate(known);
  const isAsked =
    (!hasIdentity && holding.mayMountIdentity && isMonitored(object)) || (!hasCertificate && holding.needsCertificate);
  const isRestarted = (): boolean =>
    templatePaths(difference(fingerprinted(older), live)).some((path) => !isResourcePath(path));
  return isAsked || isRestarted() ? next : older;
}
