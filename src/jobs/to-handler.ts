/** Hides an engine's own types behind closures, so that what it observed and what it may do stay consistent. */
import type { Cluster } from '../api/cluster.ts';
import type { BackupSupport } from '../engine/backup-support.ts';
import type { Engine, Judgement, KindHandler } from '../engine/engine.ts';
import type { EngineAction, Outcome, Plan } from '../plan/plan.ts';
import { noChildren } from '../resources/children.ts';
import { defaultAgentImage } from './agent-pod.ts';
import { backupFactory, versionBackupReason } from './required-backup.ts';
import { withCheckedTarget } from './target-claim.ts';

/**
 * The cluster given to the result must have been validated against the engine's kind: its spec is taken as that.
 * `agentImage` is what Jobs run.
 */
export function toHandler<Spec, Observed, Situation, Action extends EngineAction>(
  engine: Engine<Spec, Observed, Situation, Action>,
  agentImage: string = defaultAgentImage,
): KindHandler {
  const typed = (cluster: Cluster): Cluster<Spec> => cluster as Cluster<Spec>;
  const { forecast, withoutHeartbeats, listener, backup, maintenance } = engine;
  const { name, kind, shell, reference } = engine.definition;
  const take = backupFactory({ name, ...(backup === undefined ? {} : { backup }) }, agentImage);
  return {
    name,
    kind,
    ...(shell === undefined ? {} : { shell }),
    ...(reference === undefined ? {} : { reference }),
    permissions: engine.permissions,
    ports: engine.ports,
    resources: (cluster) => engine.resources(typed(cluster)),
    async assess(cluster, children, io) {
      const observed = await engine.observe(typed(cluster), children, io);
      const situation = engine.situation(typed(cluster), children, observed);
      const { otherwise, ...first } = engine.plan(situation, take);
      const judge = async (one: Plan<Action>): Promise<Judgement> => {
        const plan = await withCheckedTarget(one, io, awaitsBackup);
        return { plan, status: engine.status(situation, plan) };
      };
      return {
        ...(await judge(first)),
        ...(otherwise === undefined ? {} : { otherwise: await judge(otherwise) }),
        // Only actions of this very plan come back here.
        act: (action) => engine.act(action as Action, typed(cluster), io),
      };
    },
    // What its status remembers is something, too.
    planOffline: ({ status: _, ...cluster }) =>
      engine.plan(engine.situation(typed(cluster), noChildren, engine.offlineObservation), take),
    ...(backup === undefined ? {} : { backup: hidden(backup) }),
    ...(forecast === undefined ? {} : { forecast: (cluster, children) => forecast(typed(cluster), children) }),
    ...(maintenance === undefined
      ? {}
      : {
          maintenance: {
            fields: maintenance.fields,
            plan: (cluster, ...rest) => maintenance.plan(typed(cluster), ...rest),
            act: (action, cluster, io) => engine.act(action as Action, typed(cluster), io),
          },
        }),
    ...(withoutHeartbeats === undefined ? {} : { withoutHeartbeats }),
    ...(listener === undefined
      ? {}
      : {
          listener: {
            endpoints: listener.endpoints,
            listen: (endpoint, cluster, ...rest) => listener.listen(endpoint, typed(cluster), ...rest),
          },
        }),
  };
}

function hidden<Spec>(backup: BackupSupport<Spec>): BackupSupport<unknown> {
  const typed = (cluster: Cluster<unknown>): Cluster<Spec> => cluster as Cluster<Spec>;
  const { drillRestore, drillDefaults, isSame, specVersion, specFields, writesAlone, archive } = backup;
  return {
    source: (cluster) => backup.source(typed(cluster)),
    restoreTemplate: (cluster) => backup.restoreTemplate(typed(cluster)),
    drill: (cluster, contents) => backup.drill(typed(cluster), contents),
    ...(drillRestore === undefined ? {} : { drillRestore }),
    ...(drillDefaults === undefined ? {} : { drillDefaults }),
    ...(writesAlone === undefined ? {} : { writesAlone }),
    specVersion,
    ...(specFields === undefined ? {} : { specFields }),
    contents: (cluster, children, io, wanted) => backup.contents(typed(cluster), children, io, wanted),
    isSame,
    ...(archive === undefined
      ? {}
      : {
          archive: {
            isParked: (cluster) => archive.isParked(typed(cluster)),
            kept: (cluster, children, io) => archive.kept(typed(cluster), children, io),
          },
        }),
  };
}

/** A refused target says nothing of the members: what is wrong with them is told first. */
function awaitsBackup(outcome: Outcome): boolean {
  return outcome.state === 'wait' && outcome.reason === versionBackupReason;
}
