/** What nodes have to give, and what the pods on them have asked for, in thousandths of a core and of a byte. */
import type { KubeObject } from '../../../src/api/object.ts';
import { thousandths } from '../../../src/api/quantity.ts';
import { fieldsIn, itemsIn } from './fields.ts';
import { nodeNameOf } from './pod.ts';

export interface Room {
  readonly cpu: number;
  readonly memory: number;
}

/** Of every simulated node. */
export const nodeCapacity = { cpu: '8', memory: '32Gi', pods: '110' } as const;

const amount = (quantity: unknown): number =>
  typeof quantity === 'string' || typeof quantity === 'number' ? Number(thousandths(quantity)) : 0;

const requests = new WeakMap<object, Room>();

/** The requests of all containers of a pod. */
export function requestsOf(pod: KubeObject): Room {
  const spec = fieldsIn(pod.spec);
  const { containers = [] } = spec as { containers?: object };
  let room = requests.get(containers);
  if (room === undefined) {
    room = itemsIn(containers).reduce<Room>(
      (sum, container) => {
        const asked = fieldsIn(fieldsIn(container.resources).requests);
        return { cpu: sum.cpu + amount(asked.cpu), memory: sum.memory + amount(asked.memory) };
      },
      { cpu: 0, memory: 0 },
    );
    requests.set(containers, room);
  }
  return room;
}

/** Whether the node has so much at all. */
export function couldHold(node: KubeObject, pod: KubeObject): boolean {
  const { cpu, memory } = fieldsIn(fieldsIn(node.status).allocatable);
  const asked = requestsOf(pod);
  return asked.cpu <= amount(cpu) && asked.memory <= amount(memory);
}

/** Whether a pod finds room on a node, given all other pods there are. */
export function hasRoom(node: KubeObject, pod: KubeObject, pods: Iterable<KubeObject>): boolean {
  const { cpu, memory } = fieldsIn(fieldsIn(node.status).allocatable);
  const asked = requestsOf(pod);
  let [freeCpu, freeMemory] = [amount(cpu) - asked.cpu, amount(memory) - asked.memory];
  for (const other of pods) {
    if (nodeNameOf(other) !== node.metadata.name || other.metadata.uid === pod.metadata.uid) continue;
    const used = requestsOf(other);
    freeCpu -= used.cpu;
    freeMemory -= used.memory;
  }
  return freeCpu >= 0 && freeMemory >= 0;
}
