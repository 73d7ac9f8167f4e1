/** Every scenario of every engine, and how a plan of one is run in the simulation. */
import { etcdKit } from './etcd/subject.ts';
import type { Plan } from './plan.ts';
import { postgresKit } from './postgres/subject.ts';
import type { RunRecord } from './record.ts';
import { redisKit } from './redis/subject.ts';
import { backupScenarios } from './scenarios/backups.ts';
import { etcdScenarios } from './scenarios/etcd.ts';
import { postgresScenarios } from './scenarios/postgres.ts';
import { redisScenarios } from './scenarios/redis.ts';
import type { EngineName, Scenario } from './scenarios/scenario.ts';
import { simulatedRun } from './simulated/run.ts';
import type { SubjectKit } from './subject.ts';

export const scenarios: readonly Scenario[] = [
  ...redisScenarios,
  ...etcdScenarios,
  ...postgresScenarios,
  ...backupScenarios,
];

const kits: Readonly<Record<EngineName, () => SubjectKit>> = {
  redis: redisKit,
  etcd: etcdKit,
  postgres: postgresKit,
};

/** @throws where there is none. */
export function scenarioNamed(id: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.id === id);
  if (scenario === undefined) throw new Error(`the plan is about the scenario ${id}, which does not exist`);
  return scenario;
}

export function runSimulated(plan: Plan, scenario: Scenario, restMs?: number): Promise<RunRecord> {
  return simulatedRun({ plan, scenario, kit: kits[scenario.engine], restMs });
}
