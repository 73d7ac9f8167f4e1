/**
 * Rules of several parties as one minimal list: each right once, rights of equal scope together, in a fixed order.
 *
 * What could grant more than was asked for is refused: a wildcard, and an empty list of names, which Kubernetes reads as
 * "all names".
 */
import type { PolicyRule } from '../engine/engine.ts';

/** Throws on a rule that is too wide or says nothing. */
export function mergeRules(rules: readonly PolicyRule[]): PolicyRule[] {
  for (const rule of rules) refuseWide(rule);

  const verbsOf = new Map<string, Set<string>>();
  for (const rule of rules) {
    for (const apiGroup of rule.apiGroups) {
      for (const resource of rule.resources) {
        const scope = JSON.stringify([apiGroup, resource, [...(rule.resourceNames ?? [])].sort()]);
        const verbs = verbsOf.get(scope) ?? new Set();
        for (const verb of rule.verbs) verbs.add(verb);
        verbsOf.set(scope, verbs);
      }
    }
  }

  const merged = new Map<string, string[]>();
  for (const [scope, verbs] of [...verbsOf].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [apiGroup, resource, names] = JSON.parse(scope) as [string, string, string[]];
    const key = JSON.stringify([apiGroup, [...verbs].sort(byUse), names]);
    merged.set(key, [...(merged.get(key) ?? []), resource]);
  }
  return [...merged].map(([key, resources]) => {
    const [apiGroup, verbs, names] = JSON.parse(key) as [string, string[], string[]];
    const rule = { apiGroups: [apiGroup], resources, verbs };
    return names.length === 0 ? rule : { ...rule, resourceNames: names };
  });
}

/** Reading before writing, as people list verbs. */
const verbOrder = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

function byUse(a: string, b: string): number {
  return verbOrder.indexOf(a) - verbOrder.indexOf(b);
}

function refuseWide(rule: PolicyRule): void {
  const place = `${rule.resources.join(', ')} of ${rule.apiGroups.map((name) => name || 'core').join(', ')}`;
  const lists = [rule.apiGroups, rule.resources, rule.verbs, rule.resourceNames ?? ['-']];
  if (lists.some((list) => list.length === 0)) throw new Error(`RBAC rule for ${place}: an empty list`);
  if (lists.some((list) => list.some((entry) => entry.includes('*')))) {
    throw new Error(`RBAC rule for ${place}: a wildcard`);
  }
  for (const verb of rule.verbs) {
    if (!verbOrder.includes(verb)) throw new Error(`RBAC rule for ${place}: the verb ${verb} is never needed`);
  }
}
