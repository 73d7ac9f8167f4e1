/** O12: every request is covered by the generated Roles, and nothing is ever refused for want of a right. */
import type { PolicyRule } from '../../../src/engine/engine.ts';
import { ownPermissions, watchedPermissions } from '../../../src/jobs/permissions.ts';
import { handlers as engines } from '../../support/handlers.ts';
import type { Oracle, RunRecord } from '../record.ts';
import { targetOf, verbOf } from '../wire/request.ts';

const granted: readonly PolicyRule[] = [...ownPermissions, ...watchedPermissions(engines)];

/** `group resource verb`, and the name where there is one. */
export interface RightsUse {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly name: string | undefined;
}

export function usesOf({ entries }: RunRecord): readonly RightsUse[] {
  return entries.flatMap(({ request }) => {
    if (request === undefined) return [];
    const { group, resource, subresource, name } = targetOf(request.path);
    const full = subresource === undefined ? resource : `${resource}/${subresource}`;
    return [{ group, resource: full, verb: verbOf(request), name }];
  });
}

const covers = (rule: PolicyRule, use: RightsUse): boolean =>
  rule.apiGroups.includes(use.group) &&
  rule.resources.includes(use.resource) &&
  rule.verbs.includes(use.verb) &&
  (rule.resourceNames === undefined || (use.name !== undefined && rule.resourceNames.includes(use.name)));

export const permissions: Oracle = {
  id: 'O12',
  promise: 'the generated Roles cover every request',
  check: (run) => [
    ...new Set(
      usesOf(run)
        .filter((use) => !granted.some((rule) => covers(rule, use)))
        .map(({ verb, group, resource }) => `${verb} ${resource}${group === '' ? '' : `.${group}`} is not granted`),
    ),
  ],
};

/** Of all that is granted, what none of these needed. */
export function unusedRights(uses: Iterable<RightsUse>): readonly string[] {
  const used = new Set([...uses].map(({ verb, group, resource }) => `${verb} ${group}/${resource}`));
  return granted.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => `${verb} ${group}/${resource}`).filter((right) => !used.has(right)),
      ),
    ),
  );
}
