/**
 * The Pod Security Standard "restricted", as the Kubernetes documentation lists it: every control of its baseline and of
 * its own, checked on a pod's spec.
 */

type Fields = Readonly<Record<string, unknown>>;

const record = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);

const volumeTypes: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

/** Every breach, in words; empty when the namespace's admission would let the pod in. */
export function restrictedBreaches(podSpec: unknown): string[] {
  const spec = record(podSpec);
  const pod = record(spec.securityContext);
  const breaches: string[] = [];
  const breach = (found: boolean, what: string): void => {
    if (found) breaches.push(what);
  };
  for (const flag of ['hostNetwork', 'hostPID', 'hostIPC']) breach(spec[flag] === true, flag);
  for (const volume of list(spec.volumes)) {
    const [type = 'nothing'] = Object.keys(volume).filter((key) => key !== 'name');
    breach(!volumeTypes.has(type), `volume ${volume.name} is a ${type}`);
  }
  breach(list(pod.sysctls).length > 0, 'sysctls');
  breach(record(pod.windowsOptions).hostProcess === true, 'hostProcess');
  const containers = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((kind) => list(spec[kind]));
  breach(containers.length === 0, 'no container');
  for (const container of containers) {
    const own = record(container.securityContext);
    const at = `container ${container.name}`;
    const capabilities = record(own.capabilities);
    const dropped = (Array.isArray(capabilities.drop) ? capabilities.drop : []) as readonly unknown[];
    const added = (Array.isArray(capabilities.add) ? capabilities.add : []) as readonly unknown[];
    const seccomp = record(own.seccompProfile ?? pod.seccompProfile).type;
    breach(own.privileged === true, `${at} is privileged`);
    breach(own.allowPrivilegeEscalation !== false, `${at} may gain privileges`);
    breach((own.runAsNonRoot ?? pod.runAsNonRoot) !== true, `${at} may run as root`);
    breach((own.runAsUser ?? pod.runAsUser) === 0, `${at} runs as root`);
    breach(seccomp !== 'RuntimeDefault' && seccomp !== 'Localhost', `${at} has seccomp profile ${seccomp}`);
    breach(!dropped.includes('ALL'), `${at} keeps capabilities`);
    breach(
      added.some((capability) => capability !== 'NET_BIND_SERVICE'),
      `${at} adds capabilities`,
    );
    breach(own.procMount !== undefined && own.procMount !== 'Default', `${at} mounts all of /proc`);
    breach(own.seLinuxOptions !== undefined || pod.seLinuxOptions !== undefined, `${at} has SELinux options`);
    breach(own.appArmorProfile !== undefined, `${at} has an AppArmor profile`);
    for (const port of list(container.ports)) breach(port.hostPort !== undefined, `${at} takes a port of the node`);
    for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
      const { httpGet, tcpSocket } = record(container[probe]);
      breach(record(httpGet ?? tcpSocket).host !== undefined, `${at} probes another host`);
    }
  }
  return breaches;
}
