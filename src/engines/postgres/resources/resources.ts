/** The complete set of a PostgresCluster's children: a pure function of the custom resource and the roster. */
import type { Cluster } from '../../../api/cluster.ts';
import { accessChildren } from '../../../plan/access.ts';
import type { Desired } from '../../../plan/objects.ts';
import { configMap } from '../../../resources/configmap.ts';
import { disruptionBudget } from '../../../resources/disruptionbudget.ts';
import { ownedMetadata, type Part, selectorLabels, unownedMetadata } from '../../../resources/metadata.ts';
import { networkPolicy } from '../../../resources/network-policy.ts';
import { bindingOf, generatedSecret } from '../../../resources/secret.ts';
import { clusterIPService, headlessService } from '../../../resources/service.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { followedSource } from '../kind/source.ts';
import { component, exporterPort, poolerPort, postgresNames, roleLabel, sqlPort, stateNames } from '../names.ts';
import { accountOfPods, roleOfPods } from './access.ts';
import { accessServices } from './access-services.ts';
import { certificateChildren } from './certificates.ts';
import { exporterChildren } from './exporter.ts';
import { importScripts } from './import-source.ts';
import { accountName, bootstrapConfig, memberConfigs, sharedConfig } from './patroni-config.ts';
import { memberStatefulSet } from './pods.ts';
import { poolerChildren } from './pooler.ts';
import { filledData, forming, importing, type Roster, rosterData } from './roster.ts';
import { texts } from './shell/texts.ts';
import { shownChildren } from './shown-certificate.ts';
import { type UpgradeRecord, upgradeData } from './upgrade-record.ts';

const passwordLength = 32;

const networkPorts = { clients: [sqlPort, poolerPort], metrics: [exporterPort] };

/** Of the members, and of the Jobs of an upgrade. */
const scripts = ['locked.py', 'post-init.sh', 'pre-stop.py', 'relabel.py', 'start.sh', 'upgrade.sh'] as const;

export function memberPart({ spec }: Cluster<PostgresSpec>): Part {
  return { engine: 'postgres', component, version: spec.version };
}

export function postgresResources(cluster: Cluster<PostgresSpec>): readonly Desired[] {
  const { bootstrap, instances } = cluster.spec;
  const roster =
    followedSource(cluster.spec) === undefined
      ? forming(instances, 0, bootstrap?.restore === undefined ? 'form' : 'restore')
      : importing(instances);
  return [...newState(cluster), ...postgresChildren(cluster, roster)];
}

/**
 * The ConfigMaps of Patroni. They have no owner: what they say belongs to the data. Only a new cluster gets them: see `roleOfPods`.
 * `primary`: of a cluster that runs. Until it writes anew who may be elected beside it, only this pod may. `systemId`: of the database, where
 * nobody runs who would write it.
 */
export function newState(cluster: Cluster<PostgresSpec>, primary?: string, systemId?: string): Desired[] {
  const part = memberPart(cluster);
  const { sync, config } = postgresNames(cluster.metadata.name).state;
  return stateNames(cluster.metadata.name).map((name) => {
    const metadata = unownedMetadata(cluster, name, part);
    const alone =
      name === sync && primary !== undefined ? { annotations: { leader: primary, sync_standby: '', quorum: '0' } } : {};
    const known =
      name === config && systemId !== undefined
        ? { annotations: { config: JSON.stringify(sharedConfig(cluster)), initialize: systemId } }
        : {};
    return { object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, ...alone, ...known } } };
  });
}

/** What an application needs to connect. `{password}` is filled in when the Secret is made. */
function applicationValues({ metadata, spec }: Cluster<PostgresSpec>): Record<string, string> {
  const { database, owner } = spec.initial;
  const host = `${postgresNames(metadata.name).primary}.${metadata.namespace}.svc`;
  const at = `${host}:${sqlPort}/${database}`;
  return {
    ...bindingOf('postgresql'),
    host,
    port: String(sqlPort),
    database,
    username: owner,
    uri: `postgresql://${owner}:{password}@${at}?sslmode=require`,
    'jdbc-uri': `jdbc:postgresql://${at}?user=${owner}&password={password}&sslmode=require`,
  };
}

/** With the password of the first database's owner. */
export function applicationSecret(cluster: Cluster<PostgresSpec>): Desired {
  const metadata = unownedMetadata(cluster, postgresNames(cluster.metadata.name).app, memberPart(cluster));
  return {
    object: generatedSecret(metadata, applicationValues(cluster)),
    generate: [{ key: 'password', length: passwordLength }],
  };
}

/** What is neither in the spec nor what a member is to trust. */
export interface Beyond {
  /** How far a major upgrade is. */
  readonly record?: UpgradeRecord | undefined;
  /** Which members run; default: all. */
  readonly isRunning?: (index: number) => boolean;
  /** Whose StatefulSets are this cluster's, or are about to be made; default: all. */
  readonly isOurs?: (index: number) => boolean;
  /** See `restartAnnotation`. */
  readonly restart?: string | undefined;
  /** See `requestKey` of the roster. */
  readonly request?: string | undefined;
  /** PEM texts of the CAs that servers are known by, where the spec names a source and there is a copy. */
  readonly serverCas?: string | undefined;
  /** See `filledKey` of the roster. */
  readonly filled?: true;
}

/** `cluster` has the version of its data. `authorities`: whom a member is to trust, where that is known. */
export function postgresChildren(
  cluster: Cluster<PostgresSpec>,
  roster: Roster,
  authorities: (index: number) => string | undefined = () => undefined,
  { record, isRunning = () => true, isOurs = () => true, restart, request, serverCas, filled }: Beyond = {},
): readonly Desired[] {
  const { metadata, spec } = cluster;
  const names = postgresNames(metadata.name);
  const part = memberPart(cluster);
  const owned = (name: string) => ownedMetadata(cluster, name, part);
  const selector = selectorLabels(cluster, part);
  const ports = [{ name: 'postgres', port: sqlPort, targetPort: 'postgres', protocol: 'TCP' }];
  const patroni = {
    ...memberConfigs(cluster),
    passwd: `root:x:0:0:root:/:/bin/sh\n${accountName}:x:${spec.pods.uid}:${spec.pods.uid}::/tmp:/bin/sh\n`,
    ...Object.fromEntries(scripts.map((name) => [name, texts[name]])),
    ...importScripts(spec),
  };
  const withRole = (role: string) => ({ ...selector, [roleLabel]: role });
  return [
    ...certificateChildren(cluster, part),
    ...shownChildren(cluster, part, serverCas),
    applicationSecret(cluster),
    { object: accountOfPods(cluster, part) },
    { object: configMap(owned(names.patroni), patroni) },
    {
      object: configMap(owned(names.roster), {
        ...rosterData(metadata.name, roster, (beginning) => bootstrapConfig(cluster, beginning), request),
        ...upgradeData(spec.version, record),
        ...(filled === true ? filledData : {}),
      }),
    },
    { object: headlessService({ metadata: owned(names.members), selector, ports }) },
    // The lock decides. Patroni 4.1 calls a primary unready for a while after a failover.
    {
      object: clusterIPService({ metadata: owned(names.primary), selector: withRole('primary'), ports, unready: true }),
    },
    { object: clusterIPService({ metadata: owned(names.replicas), selector: withRole('replica'), ports }) },
    { object: disruptionBudget(owned(names.members), selector) },
    ...[...roster.keys()].map((index) => ({
      object: memberStatefulSet(cluster, index, part, spec.instances > 0 && isRunning(index) ? 1 : 0, {
        authorities: authorities(index),
        restart,
      }),
    })),
    ...roleOfPods(cluster, [...roster.keys()].filter(isOurs), part).map((object) => ({ object })),
    ...poolerChildren(cluster),
    ...exporterChildren(cluster, roster),
    ...accessChildren([
      ...accessServices(cluster),
      ...networkPolicy(cluster, spec.networkPolicy, { part, ports: networkPorts }),
    ]),
  ];
}
