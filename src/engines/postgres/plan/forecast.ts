/** What the reconciles after the next one do, for people who read a plan. */
import type { Cluster } from '../../../api/cluster.ts';
import type { Children, StatefulSet } from '../../../resources/children.ts';
import { componentLabel } from '../../../resources/metadata.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { component, retiredAnnotation } from '../names.ts';
import { isShownMounted } from '../resources/shown-certificate.ts';
import { restartForecast } from './restart-forecast.ts';
import { upgradeForecast } from './upgrade-forecast.ts';

export function forecastPostgres(cluster: Cluster<PostgresSpec>, children: Children): readonly string[] {
  const lines = [
    sizeForecast(cluster, children),
    restartForecast(cluster, children),
    shownForecast(cluster, children),
    upgradeForecast(cluster, children),
  ];
  return lines.filter((line) => line !== undefined);
}

/** The templates show that members restart. They do not show what follows. */
function shownForecast(cluster: Cluster<PostgresSpec>, { objects }: Children): string | undefined {
  const { metadata, spec } = cluster;
  const from = spec.tls?.server.secretRef?.name;
  const sets = objects.filter(({ kind }) => kind === 'StatefulSet') as readonly StatefulSet[];
  if (from === undefined || sets.length === 0 || isShownMounted(sets, metadata.name)) return undefined;
  return `members restart once with a copy of the certificate that they show, and show that of Secret ${from} when each of them trusts its CA`;
}

function sizeForecast({ spec }: Cluster<PostgresSpec>, children: Children): string | undefined {
  const size = children.objects.filter(
    ({ kind, metadata }) => kind === 'StatefulSet' && metadata.labels?.[componentLabel] === component,
  ).length;
  const volumes = children.claims
    .filter(({ metadata }) => metadata.annotations?.[retiredAnnotation] === undefined)
    .map(({ metadata }) => metadata.name);
  if (size === 0) {
    return volumes.length === 0
      ? undefined
      : `members resume on the volumes of an earlier cluster of this name: ${volumes.join(', ')}`;
  }
  const [coming, leaving] = [spec.instances - size, size - spec.instances];
  if (coming > 0) return `${coming} member(s) join at once, and each copies the data of the primary`;
  if (spec.instances === 0 || leaving === 0) return undefined;
  const fate = spec.deletionPolicy === 'Delete' ? 'are deleted' : 'are kept';
  return `${leaving} member(s) leave, one at a time, the highest number first that is not the primary's; their volumes ${fate}`;
}
