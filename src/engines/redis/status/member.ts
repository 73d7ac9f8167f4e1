/** A process as the status shows it. */
import type { MemberStatus } from '../../../api/status.ts';
import { type Pod, podIsReady } from '../../../resources/children.ts';

export function memberOf(pod: Pod, role: string, version: string | undefined): MemberStatus {
  return {
    name: pod.metadata.name,
    role,
    ready: podIsReady(pod),
    ...(version === undefined || version === '' ? {} : { version }),
    ...(pod.spec?.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
    ...(pod.status?.podIP === undefined ? {} : { address: pod.status.podIP }),
  };
}
