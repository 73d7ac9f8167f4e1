/** From the complete set of desired children to the steps that make it so: create what is missing, apply what differs. */
import type { KubeObject } from '../api/object.ts';
import type { Children } from '../resources/children.ts';
import { difference, fingerprinted } from './difference.ts';
import type { Generated, MayFail, ObjectStep } from './plan.ts';

/**
 * A desired child. `generate` marks a Secret that is filled once, when it is created, and never written again. `issued`
 * marks one with certificates, which come and go by steps of their own: see `issuance.ts`. `unlocksBackups` marks one
 * that no backup of the cluster can be used without, and that is in none. `mayFail` marks one that others need not wait for.
 */
export interface Desired {
  readonly object: KubeObject;
  readonly generate?: readonly Generated[];
  readonly issued?: true;
  readonly unlocksBackups?: true;
  readonly mayFail?: MayFail;
}

/** A Secret that is filled by us: nothing of it but its name stands in a plan. */
export function isFilled({ generate, issued }: Desired): boolean {
  return generate !== undefined || issued === true;
}

/** A StatefulSet keeps the claim templates it was made with: they are immutable, and dropping them would be a change. */
function keepingClaimTemplates(wanted: KubeObject, live: KubeObject): KubeObject {
  if (wanted.kind !== 'StatefulSet') return wanted;
  const { volumeClaimTemplates } = live.spec as { readonly volumeClaimTemplates?: unknown };
  const spec = wanted.spec as Record<string, unknown>;
  return volumeClaimTemplates === undefined ? wanted : { ...wanted, spec: { ...spec, volumeClaimTemplates } };
}

interface Families {
  readonly ipFamilyPolicy?: string;
  readonly ipFamilies?: readonly string[];
}

/**
 * The API server adds the second IP family to a Service that may have both. An apply that names the first one alone is refused: it would
 * take an address away.
 */
function keepingFamilies(wanted: KubeObject, live: KubeObject): KubeObject {
  if (wanted.kind !== 'Service') return wanted;
  const { ipFamilyPolicy = 'SingleStack', ipFamilies } = wanted.spec as Families;
  const { ipFamilies: has = [] } = live.spec as Families;
  if (ipFamilyPolicy === 'SingleStack' || ipFamilies?.length !== 1 || has.length !== 2) return wanted;
  if (ipFamilies[0] !== has[0]) return wanted;
  return { ...wanted, spec: { ...(wanted.spec as object), ipFamilies: has } };
}

/**
 * `wanted` as it is applied to `live`, and to no other object. It has the UID of `live`, since an apply would create the object
 * again if it is gone, or take over another one. It keeps the claim templates of `live`, which nobody can change, and the IP family that
 * the API server has added.
 */
export function exactly(wanted: KubeObject, live: KubeObject): KubeObject {
  const { uid } = live.metadata;
  const kept = keepingFamilies(keepingClaimTemplates(wanted, live), live);
  return uid === undefined ? kept : { ...kept, metadata: { ...kept.metadata, uid } };
}

/** The UID of what an object goes with: of the cluster, or of the StatefulSet of a pod. */
export function ownerOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata.ownerReferences?.find((reference) => reference.controller === true)?.uid;
}

/**
 * A Secret that we generate is not watched (the controller may not list Secrets), so it is created along with the first
 * of the other children: `fresh` says that none of them is there, those of an earlier cluster of the name apart. A child that
 * others need not wait for may be there before the Secret is.
 */
export function objectSteps(desired: readonly Desired[], children: Children): ObjectStep[] {
  const fresh = !desired.some(({ object, mayFail }) => {
    if (mayFail !== undefined) return false;
    const live = children.get(object.kind, object.metadata.name);
    return live !== undefined && ownerOf(live) === ownerOf(object);
  });
  // They come first: where a run ends behind another child, they would be taken for lost.
  const secrets = fresh ? desired.flatMap((child) => (isGenerated(child) ? [creation(child)] : [])) : [];
  const others = desired.flatMap((child): ObjectStep[] => {
    const { object, issued, mayFail } = child;
    if (issued === true || isGenerated(child)) return [];
    const asked = fingerprinted(object);
    const live = children.get(object.kind, object.metadata.name);
    if (live === undefined) return [{ type: 'create', object: asked, ...mayFail }];
    if (live.metadata.deletionTimestamp !== undefined) return [];
    const wanted = keepingFamilies(asked, live);
    const changes = difference(wanted, live);
    if (changes.length === 0) return [];
    return [{ type: 'apply', object: exactly(wanted, live), changes, ...mayFail }];
  });
  return [...secrets, ...others];
}

type GeneratedChild = Desired & Required<Pick<Desired, 'generate'>>;

function isGenerated(child: Desired): child is GeneratedChild {
  return child.generate !== undefined && child.issued !== true;
}

function creation({ object, generate }: GeneratedChild): ObjectStep {
  return { type: 'create', object, generate };
}

/**
 * A Job that is about to be made, what it fills and what it is told. What an earlier owner of the name has left is not
 * taken for any of them: making one meets it, and waits until it is gone. Job and claim stay as they were made.
 */
export function jobSteps(wanted: readonly KubeObject[], children: Children): ObjectStep[] {
  return wanted.flatMap((object): ObjectStep[] => {
    const live = children.get(object.kind, object.metadata.name);
    const isClaim = object.kind === 'PersistentVolumeClaim';
    if (live === undefined || ownerOf(live) !== ownerOf(object)) {
      return [{ type: 'create', object: isClaim ? object : fingerprinted(object) }];
    }
    return isClaim || object.kind === 'Job' ? [] : objectSteps([{ object }], children);
  });
}

/** What a Job at work is told, where somebody has taken that away: a pod that is to start waits for it. The Job itself is made once. */
export function taskSteps(wanted: readonly KubeObject[], children: Children): ObjectStep[] {
  const isMissing = ({ kind, metadata }: KubeObject): boolean =>
    kind === 'ConfigMap' && children.get(kind, metadata.name) === undefined;
  return wanted.filter(isMissing).map((object): ObjectStep => ({ type: 'create', object: fingerprinted(object) }));
}

/** The same StatefulSet at another size. */
export function atSize(object: KubeObject, replicas: number): KubeObject {
  return { ...object, spec: { ...(object.spec as Record<string, unknown>), replicas } };
}
