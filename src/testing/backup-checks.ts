/** What an engine says of backups and restores of a cluster, against what the agent's half of it understands. */
import { schemaViolations } from '../api/check.ts';
import { apiVersionOf } from '../api/object.ts';
import type { StructuralSchema } from '../api/schema.ts';
import { validateCluster } from '../api/validate.ts';
import { displayPath } from '../api/violation.ts';
import type { EngineFormat } from '../backup/engine-data.ts';
import { type BackupSupport, type RestoredSet, restoredVolume } from '../engine/backup-support.ts';
import type { KindHandler } from '../engine/engine.ts';
import type { SampleCheck } from './check.ts';
import { claimTemplatesOf, type EngineSample, objectsOf } from './sample.ts';

/** Of an engine that has backups. */
export function backupChecks(backup: BackupSupport<unknown>, format: EngineFormat): readonly SampleCheck[] {
  return [
    {
      name: 'the agent understands where a backup comes from',
      problems: ({ name }, { cluster }) => [
        ...(format.engine === name ? [] : [`the driver is of the engine ${format.engine}`]),
        ...(format.kind === cluster.kind ? [] : [`the driver is of the kind ${format.kind}`]),
        ...unfit('source', format.schemas.source, backup.source(cluster).source),
      ],
    },
    {
      name: 'a restore fills the first volume of a StatefulSet, and the agent understands where',
      problems: (engine, sample) => [
        ...volumesOf(backup, sample).flatMap(({ destination }) =>
          unfit('destination', format.schemas.destination, destination),
        ),
        ...misplaced(engine, sample, backup),
      ],
    },
    {
      name: 'the spec of a drill is valid',
      problems: ({ kind }, { cluster }) => {
        const { resource } = kind;
        const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name: 'drill' } };
        const verdict = validateCluster(kind, { ...object, spec: backup.drill(cluster) });
        return verdict.ok ? [] : verdict.violations.map(({ path, message }) => `${path}: ${message}`);
      },
    },
  ];
}

function unfit(part: string, schema: StructuralSchema, value: unknown): string[] {
  return schemaViolations(schema, value).map(({ path, message }) => `${displayPath([part, ...path])} ${message}`);
}

/** The first one, and the others. */
function volumesOf(backup: BackupSupport<unknown>, { cluster }: EngineSample): readonly RestoredSet[] {
  const template = backup.restoreTemplate(cluster);
  return [template, ...(template.others ?? [])];
}

function misplaced(engine: KindHandler, sample: EngineSample, backup: BackupSupport<unknown>): string[] {
  const { volumes, fetchMounts, containers } = backup.restoreTemplate(sample.cluster);
  const sets = objectsOf(engine.resources(sample.cluster)).filter(({ kind }) => kind === 'StatefulSet');
  const hasVolumes = sets.some((each) => claimTemplatesOf(each).length > 0);
  const absent = volumesOf(backup, sample).flatMap(({ set }) => {
    const found = sets.find(({ metadata }) => metadata.name === set);
    if (found === undefined) return [`there is no StatefulSet ${set}`];
    return hasVolumes && claimTemplatesOf(found).length === 0 ? [`the StatefulSet ${set} has no volume`] : [];
  });
  const known = [restoredVolume, ...volumes.map(({ name }) => name)];
  const mounted = [...fetchMounts, ...containers.flatMap(({ mounts }) => mounts)].map(({ name }) => name);
  return [
    ...absent,
    ...mounted.filter((name) => !known.includes(name)).map((name) => `there is no volume ${name} to mount`),
    ...(mounted.includes(restoredVolume) ? [] : ['nothing mounts the volume that is to be filled']),
  ];
}
