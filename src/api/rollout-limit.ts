/** How many clusters of an operator may roll out at once: a setting of the operator, and of no custom resource. */
export const defaultRollouts = 1;
export const mostRollouts = 10_000;

export function isRolloutLimit(limit: number): boolean {
  return Number.isInteger(limit) && limit >= 1 && limit <= mostRollouts;
}
