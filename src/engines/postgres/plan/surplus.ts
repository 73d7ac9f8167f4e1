/** Objects of a pooler, of exporters or of access from outside that the spec does not ask for any more. */
import { configMaps, podDisruptionBudgets, services, statefulSets } from '../../../api/resource.ts';
import { type Desired, ownerOf } from '../../../plan/objects.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import { componentLabel } from '../../../resources/metadata.ts';
import { accessComponent, exporterComponent, poolerComponent } from '../names.ts';
import type { Situation } from '../observe/situation.ts';

const kinds = [statefulSets, services, configMaps, podDisruptionBudgets];
const optional: ReadonlySet<string | undefined> = new Set([poolerComponent, exporterComponent, accessComponent]);

export function surplusSteps({ cluster, children }: Situation, desired: readonly Desired[]): ObjectStep[] {
  const wanted = new Set(desired.map(({ object }) => `${object.kind}/${object.metadata.name}`));
  return children.objects.flatMap((object): ObjectStep[] => {
    const resource = kinds.find(({ kind }) => kind === object.kind);
    const isOurs = cluster.metadata.uid !== undefined && ownerOf(object) === cluster.metadata.uid;
    if (resource === undefined || !isOurs || !optional.has(object.metadata.labels?.[componentLabel])) return [];
    if (wanted.has(`${object.kind}/${object.metadata.name}`) || object.metadata.deletionTimestamp !== undefined)
      return [];
    const ref = refOf(object, resource);
    return ref === undefined ? [] : [{ type: 'delete', ref, reason: 'the spec does not ask for it any more' }];
  });
}
