/** What is written on claims. */
import { persistentVolumeClaims } from '../../../api/resource.ts';
import type { ObjectStep } from '../../../plan/plan.ts';
import { refOf } from '../../../plan/ref.ts';
import type { Claim } from '../../../resources/children.ts';

/** One patch, of what differs. Null: it goes. */
export function annotationSteps(
  claim: Claim | undefined,
  wanted: Readonly<Record<string, string | null>>,
): ObjectStep[] {
  if (claim === undefined) return [];
  const ref = refOf(claim, persistentVolumeClaims);
  const has = claim.metadata.annotations ?? {};
  const news = Object.entries(wanted).filter(([name, value]) => (has[name] ?? null) !== value);
  if (ref === undefined || news.length === 0) return [];
  return [
    {
      type: 'patch',
      ref,
      patch: { metadata: { annotations: Object.fromEntries(news) } },
      changes: news.map(([name, to]) => ({
        path: `metadata.annotations[${name}]`,
        ...(has[name] === undefined ? {} : { from: has[name] }),
        ...(to === null ? {} : { to }),
      })),
    },
  ];
}
