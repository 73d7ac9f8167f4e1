/** What an engine plans and says of a cluster where all is well, and of one where nobody answers. */
import type { Assessment, KindHandler } from '../engine/engine.ts';
import type { EngineContext } from '../engine/engine-context.ts';
import type { Step } from '../plan/plan.ts';
import type { SampleCheck } from './check.ts';
import { claimContradictions } from './claim-contradictions.ts';
import { type EngineSample, isSelected, nameOf, objectsOf } from './sample.ts';

export const assessmentChecks: readonly SampleCheck[] = [
  { name: 'offline, the plan creates every managed resource and does nothing else', problems: offline },
  { name: 'when all is well, nothing is planned and the cluster is Ready', problems: unsettled },
  { name: 'the status does not contradict itself, and has what the kind promises', problems: contradicting },
  { name: 'no secret is in managed resources, plan or status', problems: telling },
  { name: 'it connects only to ports that the engine lists', problems: unlistedPorts },
  { name: 'when nobody answers, the cluster is not Ready and nothing is deleted', problems: hasty },
];

const assess = (engine: KindHandler, { cluster, whole }: EngineSample, io: EngineContext = whole.io) =>
  engine.assess(cluster, whole.children, io);

function stepText(step: Step): string {
  switch (step.type) {
    case 'create':
    case 'apply':
    case 'issue':
      return `${step.type} ${nameOf(step.object)}`;
    case 'patch':
    case 'resize':
    case 'delete':
      return `${step.type} ${step.ref.resource.kind} ${step.ref.name}`;
    case 'act':
      return `${step.type} ${step.summary}`;
    default:
      return step satisfies never;
  }
}

const readyOf = ({ status }: Assessment): string =>
  status.conditions.find(({ type }) => type === 'Ready')?.status ?? 'absent';

function offline(engine: KindHandler, { cluster }: EngineSample): string[] {
  const steps = engine.planOffline(cluster).steps.map((step) => ({
    text: stepText(step),
    made: step.type === 'create' || step.type === 'issue' ? nameOf(step.object) : undefined,
  }));
  const wanted = objectsOf(engine.resources(cluster)).map(nameOf);
  return [
    ...steps.filter(({ made }) => made === undefined || !wanted.includes(made)).map(({ text }) => `it plans: ${text}`),
    ...wanted.filter((name) => !steps.some(({ made }) => made === name)).map((name) => `${name} is not created`),
  ];
}

async function unsettled(engine: KindHandler, sample: EngineSample): Promise<string[]> {
  const assessment = await assess(engine, sample);
  const { steps, outcome } = assessment.plan;
  return [
    ...steps.map((step) => `it plans: ${stepText(step)}`),
    ...(outcome.state === 'settled' ? [] : [`the outcome is ${outcome.state} ${outcome.reason}: ${outcome.message}`]),
    ...(readyOf(assessment) === 'True' ? [] : [`the condition Ready is ${readyOf(assessment)}`]),
  ];
}

async function contradicting(engine: KindHandler, sample: EngineSample): Promise<string[]> {
  const { status } = await assess(engine, sample);
  if (engine.kind.scale === undefined) return claimContradictions(status);
  const pairs = (status.selector ?? '').split(',').map((pair) => pair.split('='));
  const selected = sample.whole.children.pods.filter(({ metadata }) =>
    isSelected(metadata.labels ?? {}, Object.fromEntries(pairs)),
  );
  return [
    ...claimContradictions(status),
    ...(status.replicas === undefined ? ['the kind has a scale, and the status has no `replicas`'] : []),
    ...(selected.length > 0 ? [] : [`the kind has a scale, and \`selector\` of the status selects no pod`]),
  ];
}

/** Every text in a value, whatever it is nested in. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [...Object.keys(value), ...Object.values(value).flatMap(textsIn)];
}

async function telling(engine: KindHandler, sample: EngineSample): Promise<string[]> {
  const { cluster, secrets = [] } = sample;
  const { plan, status } = await assess(engine, sample);
  const told = { resources: engine.resources(cluster), 'offline plan': engine.planOffline(cluster), plan, status };
  return Object.entries(told)
    .filter(([, value]) => textsIn(value).some((text) => secrets.some((secret) => text.includes(secret))))
    .map(([where]) => `a secret is in: ${where}`);
}

async function unlistedPorts(engine: KindHandler, sample: EngineSample): Promise<string[]> {
  const { io } = sample.whole;
  const asked = new Set<number>();
  await assess(engine, sample, {
    ...io,
    dial(host, port, signal) {
      asked.add(port);
      return io.dial(host, port, signal);
    },
    exchange(request) {
      asked.add(request.port);
      return io.exchange(request);
    },
  });
  return [...asked].filter((port) => !engine.ports.includes(port)).map((port) => `it connects to ${port}`);
}

async function hasty(engine: KindHandler, sample: EngineSample): Promise<string[]> {
  const refuse = (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'));
  const assessment = await assess(engine, sample, { ...sample.whole.io, dial: refuse, exchange: refuse });
  return [
    ...assessment.plan.steps.filter(({ type }) => type === 'delete').map((step) => `it plans: ${stepText(step)}`),
    ...assessment.plan.steps.flatMap(shrinking),
    ...(readyOf(assessment) === 'True' ? ['the condition Ready is True'] : []),
    ...claimContradictions(assessment.status),
  ];
}

/** A StatefulSet that gets smaller deletes pods, too. */
function shrinking(step: Step): string[] {
  if (step.type !== 'apply' || step.object.kind !== 'StatefulSet') return [];
  const size = step.changes.find(({ path }) => path === 'spec.replicas');
  return Number(size?.to) < Number(size?.from) ? [`it plans: fewer pods of ${nameOf(step.object)}`] : [];
}
