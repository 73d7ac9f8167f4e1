/**
 * Another password for clients, without an outage. Every process first accepts what the Secret names, beside what it accepts already; when all
 * do, and the overlap is over, it accepts nothing else any more. Sentinels, replicas and the operator log in as the cluster (`identity.ts`) and
 * are not touched by it.
 *
 * What has been done is derived from the hashes that the servers keep; since when all accept the passwords, from the condition in the status. If
 * that is lost, the overlap begins anew, and nobody is locked out.
 */
import { createHash } from 'node:crypto';
import type { Condition, DesiredCondition } from '../../../api/condition.ts';
import { durationMs } from '../../../api/duration.ts';
import { type ActStep, type Outcome, settled, wait } from '../../../plan/plan.ts';
import type { Formers, Process, RedisAction } from '../action.ts';
import { passwordSecret } from '../client/password.ts';
import { defaultOverlap } from '../kind/schema.ts';
import { answering, hasAll, type Lack } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { mountedPassword } from './held-template.ts';
import { isAnyUntold, passwordProblem } from './password-problem.ts';

type Act = ActStep<RedisAction>;

/** When to look whether they have been told. */
const recheckMs = 500;
/** Clusters are looked at as often anyway. */
const longestMs = 600_000;

interface Asked extends Process {
  readonly formers?: Formers;
  readonly lacks?: readonly Lack[];
}

/** Of any mode. */
export type Passwords = Pick<Situation, 'cluster' | 'observed'>;

function processesIn({ observed }: Pick<Situation, 'observed'>): Asked[] {
  return [
    ...answering(observed.data).map((node) => ({ ...node, part: 'data' as const })),
    ...answering(observed.sentinels).map((node) => ({ ...node, part: 'sentinel' as const })),
  ];
}

const target = ({ pod, address, part }: Process): Process => ({ pod, address, part });

const formersOf = (processes: readonly Asked[]): number[] => [
  ...new Set(processes.flatMap(({ formers = [] }) => formers)),
];

/** Nobody is interrupted by it, so all are told at once. Sentinels come first: the scripts of the pods ask them. */
export function planPasswords(situation: Passwords): Act[] {
  const { cluster } = situation;
  if (passwordProblem(situation) !== undefined) return [];
  const processes = processesIn(situation).reverse();
  const { name } = passwordSecret(cluster);
  const untold = processes.filter((process) => !hasAll(process, 'password'));
  const told = untold.map(
    (process): Act => ({
      type: 'act',
      action: { type: 'redis.acceptPasswords', process: target(process) },
      summary: `have ${process.pod} accept the passwords in Secret ${name}`,
    }),
  );
  return [...told, ...levelling(situation, processes)];
}

/**
 * A process that has restarted may have come back without a password that is still accepted by most. What a minority accepts is a remainder, and
 * only goes.
 */
function levelling(situation: Passwords, processes: readonly Asked[]): Act[] {
  if (isOver(situation)) return [];
  const common = formersOf(processes).filter((former) => holders(processes, former).length * 2 > processes.length);
  return processes.flatMap((process): Act[] => {
    const formers = common.filter((former) => process.formers?.includes(former) !== true);
    const [missing] = formers;
    const [as] = missing === undefined ? [] : holders(processes, missing);
    if (as === undefined) return [];
    return [
      {
        type: 'act',
        action: { type: 'redis.acceptAsWell', process: target(process), as: target(as), formers },
        summary: `have ${process.pod} accept the passwords that ${as.pod} accepts`,
      },
    ];
  });
}

const holders = (processes: readonly Asked[], former: number): readonly Asked[] =>
  processes.filter(({ formers = [] }) => formers.includes(former));

/** While somebody is told, nobody is restarted, and no size changes. */
export function awaitsPasswords(situation: Passwords): Outcome | undefined {
  if (!isAnyUntold(situation)) return undefined;
  const message = `every process is told the passwords in Secret ${passwordSecret(situation.cluster).name}`;
  return wait('RotatingPassword', message, recheckMs);
}

/**
 * Empty until the overlap is over. Asked where nothing else is to be done: the cluster is whole, no restart is due, and everybody logs in to
 * everybody as the cluster.
 */
export function planRetirement(situation: Passwords & Pick<Situation, 'children'>): Act[] {
  const { cluster, observed } = situation;
  const processes = processesIn(situation);
  if (observed.identity !== undefined || !isOver(situation) || isAnotherMounted(situation)) return [];
  const { name } = passwordSecret(cluster);
  return processes.flatMap((process): Act[] =>
    process.formers === undefined
      ? []
      : [
          {
            type: 'act',
            action: { type: 'redis.retirePasswords', process: target(process), formers: process.formers },
            summary: `have ${process.pod} accept no other password than those in Secret ${name}`,
          },
        ],
  );
}

/** The template with the Secret of now may wait for a maintenance window. Until then, a pod that starts has the password of the other one. */
function isAnotherMounted({ cluster, children }: Pick<Situation, 'cluster' | 'children'>): boolean {
  const { name, key } = passwordSecret(cluster);
  return children.objects.some((object) => {
    const mounted = object.kind === 'StatefulSet' ? mountedPassword(object) : undefined;
    return mounted !== undefined && (mounted.name !== name || mounted.key !== key);
  });
}

export function retiring(cluster: Situation['cluster']): Outcome {
  const message = `passwords that Secret ${passwordSecret(cluster).name} does not name are removed`;
  return wait('RotatingPassword', message, recheckMs);
}

/** Nobody tells when the time is over. */
export function untilOverlapEnds(situation: Passwords): Outcome {
  const left = leftMs(situation);
  if (isOutdated(situation)) return { state: 'settled', recheckMs };
  if (left === undefined) return settled;
  const next = left > 0 ? Math.max(recheckMs, Math.min(left, longestMs)) : longestMs;
  return { state: 'settled', recheckMs: next };
}

function isOver(situation: Passwords): boolean {
  return (leftMs(situation) ?? 1) <= 0;
}

/** Undefined where there is nothing to wait for. */
function leftMs(situation: Passwords): number | undefined {
  const { cluster, observed } = situation;
  if (formersOf(processesIn(situation)).length === 0) return undefined;
  const overlapMs = durationMs(cluster.spec.auth?.overlap ?? defaultOverlap);
  const standing = standingClaim(situation);
  if (standing === undefined || isOutdated(situation)) return overlapMs;
  return Date.parse(standing.lastTransitionTime) + overlapMs - (observed.at ?? 0);
}

function standingClaim({ cluster }: Passwords): Condition | undefined {
  return cluster.status?.conditions?.find(({ type, status }) => type === 'PasswordOverlap' && status === 'True');
}

/**
 * The words change with the passwords. Where they are others than now, they tell of another change: they are left out of one status, so that the
 * time begins anew.
 */
function isOutdated(situation: Passwords): boolean {
  const standing = standingClaim(situation);
  return standing !== undefined && standing.message !== wordsFor(situation)?.message;
}

type Words = Pick<Condition, 'reason' | 'message'>;

/** Undefined where clients have one password. */
function wordsFor(situation: Passwords): Words | undefined {
  const { cluster, observed } = situation;
  const { name } = passwordSecret(cluster);
  const formers = formersOf(processesIn(situation));
  const { namedPasswords: named = 1 } = observed;
  const all = `every process accepts the ${named === 1 ? 'password' : `${named} passwords`} in Secret ${name}`;
  if (formers.length === 0) return named === 1 ? undefined : { reason: 'NamedPasswordsAccepted', message: all };
  const [others, they] = formers.length === 1 ? ['a password', 'it is'] : [`${formers.length} passwords`, 'they are'];
  const which = `${others} that it does not name (${markOf(formers)})`;
  const message = `${all}, and ${which}; ${they} removed when this has been so for spec.auth.overlap`;
  return { reason: 'FormerPasswordAccepted', message };
}

/** Another one for other passwords. */
function markOf(formers: Formers): string {
  return createHash('sha256')
    .update([...formers].sort().join())
    .digest('hex')
    .slice(0, 8);
}

/** The condition begins when every one of so many processes has answered and accepts what the Secret names. A process that is silent later does not end it. */
export function overlapClaims(situation: Passwords, processes: number): DesiredCondition[] {
  const words = wordsFor(situation);
  const { observed } = situation;
  if (words === undefined || isOutdated(situation)) return [];
  if (isAnyUntold(situation) || observed.passwordMissing !== undefined) return [];
  const isFirst = standingClaim(situation) === undefined;
  if (isFirst && processesIn(situation).length < processes) return [];
  return [{ type: 'PasswordOverlap', status: 'True', ...words }];
}
