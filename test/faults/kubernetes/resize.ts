/** The subresource `resize` of pods: CPU and memory of containers, and nothing else. */
import type { KubeObject } from '../../../src/api/object.ts';
import { equal, type Fields, fieldsIn, itemsIn, without } from './fields.ts';
import { invalid } from './refusal.ts';

const lists = ['containers', 'initContainers'] as const;
const amounts = ['requests', 'limits'] as const;
const mutable = ['cpu', 'memory'];

/** The pod after it. What else the request would change is left as it is. Throws a 422 where the resources may not change like that. */
export function resizedPod(before: KubeObject, next: KubeObject): KubeObject {
  const [was, is] = [fieldsIn(before.spec), fieldsIn(next.spec)];
  const changed = lists.flatMap((list) =>
    was[list] === undefined ? [] : [[list, resizedList(before, list, was, is)]],
  );
  const spec: Fields = { ...was, ...Object.fromEntries(changed) };
  if (classOf(was) !== classOf(spec)) {
    throw invalid('Pod', before.metadata.name, 'spec', 'Pod QOS Class may not change as a result of resizing');
  }
  if (equal(was, spec)) return before;
  const generation = (before.metadata.generation ?? 0) + 1;
  return { ...before, spec, metadata: { ...before.metadata, generation } };
}

function resizedList(pod: KubeObject, list: (typeof lists)[number], was: Fields, is: Fields): readonly Fields[] {
  const { name } = pod.metadata;
  const [old, wanted] = [itemsIn(was[list]), itemsIn(is[list])];
  if (old.length !== wanted.length) {
    throw invalid('Pod', name, `spec.${list}`, `Forbidden: ${list} may not be added or removed on resize`);
  }
  return old.map((container, at) => {
    const { name: known, resources: given } = wanted[at] ?? {};
    const field = `spec.${list}[${at}]`;
    if (known !== container.name) {
      throw invalid('Pod', name, `${field}.name`, `Forbidden: ${list} may not be renamed or reordered on resize`);
    }
    const [has, gets] = [fieldsIn(container.resources), fieldsIn(given)];
    if (equal(has, gets)) return container;
    if (list === 'initContainers' && container.restartPolicy !== 'Always') {
      throw invalid('Pod', name, 'spec', 'Forbidden: resources for non-sidecar init containers are immutable');
    }
    for (const kind of amounts) {
      const [before, after] = [fieldsIn(has[kind]), fieldsIn(gets[kind])];
      if (Object.keys(before).some((one) => after[one] === undefined)) {
        throw invalid('Pod', name, `${field}.resources.${kind}`, `Forbidden: resource ${kind} cannot be removed`);
      }
      if (!equal(without(before, mutable), without(after, mutable))) {
        throw invalid('Pod', name, 'spec', 'Forbidden: only cpu and memory resources are mutable');
      }
    }
    return { ...container, resources: gets };
  });
}

/** The quality of service that Kubernetes gives a pod of that spec. */
function classOf(spec: Fields): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = lists.flatMap((list) => itemsIn(spec[list])).map(({ resources }) => fieldsIn(resources));
  const of = (resources: Fields, kind: (typeof amounts)[number]): Fields => fieldsIn(resources[kind]);
  const hasNone = containers.every((one) =>
    amounts.every((kind) => mutable.every((name) => of(one, kind)[name] === undefined)),
  );
  if (hasNone) return 'BestEffort';
  const isFull = containers.every((one) =>
    mutable.every((name) => {
      const limit = of(one, 'limits')[name];
      return limit !== undefined && of(one, 'requests')[name] === limit;
    }),
  );
  return isFull ? 'Guaranteed' : 'Burstable';
}
