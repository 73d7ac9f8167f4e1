/**
 * Labels of a database on what a command makes for it: an operator with a label selector serves nothing without them. Those by which
 * tools find what they have made themselves are left out: such a tool would delete what it does not know.
 */
import type { KubeObject } from '../../api/object.ts';

const ofTools =
  /^(app\.kubernetes\.io\/(instance|managed-by)$|(applyset\.kubernetes\.io|argocd\.argoproj\.io|([^/]*\.)?toolkit\.fluxcd\.io)\/)/;

export function carriedLabels({ metadata: { labels = {} } }: KubeObject): {
  readonly labels?: Readonly<Record<string, string>>;
} {
  const carried = Object.entries(labels).filter(([key]) => !ofTools.test(key));
  return carried.length === 0 ? {} : { labels: Object.fromEntries(carried) };
}
