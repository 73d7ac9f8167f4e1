/**
 * O13 on a real API server, inside of the operator's process: right before a pass writes or acts for the first time, the
 * objects of the API server are read, and the plan is made that `clusterwright plan KIND/NAME` would print of them. What
 * is sent then has to be in it, and what is in it has to be sent, except what may wait.
 *
 * The answers of the database processes are those that the operator got. Where its view was behind the API server, the plan
 * from that view counts, too, as in the simulation.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../../../src/api/cluster.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import type { Assessment } from '../../../src/engine/engine.ts';
import { type EngineAction, type FieldChange, isOptional, type Plan, type Step } from '../../../src/plan/plan.ts';
import { describeStep } from '../../../src/runtime/executor.ts';
import type { TransportRequest } from '../../../src/runtime/transport.ts';
import type { Clock } from '../../../src/system/clock.ts';
import { changingCommand } from '../wire/command.ts';
import { targetOf } from '../wire/request.ts';
import { isApart } from './foresight.ts';
import { asSeen, plansFrom, planWords, wasBehind } from './made-again.ts';
import { isShownBy } from './planned-request.ts';
import { type Edges, foresightRecorder, type Pass } from './recorder.ts';
import { rememberedMs, waitingSteps } from './waiting-steps.ts';

/** One thing that was done, or a step that was not. */
export interface ForesightLine {
  /** The cluster, `KIND/NAME`, and which generation of it. */
  readonly cluster: string;
  readonly generation: number | undefined;
  /** Counted within the process. */
  readonly pass: number;
  readonly what: string;
  /** From what the plan was made that holds it: the API server's objects, or the operator's view. `none`: it is in neither. */
  readonly plannedFrom: 'there' | 'seen' | 'none';
  /** The step of the plan, in words; the plan, where it is in none. */
  readonly words: string;
  /** Of that step. */
  readonly changes?: readonly FieldChange[];
}

export interface LiveForesightOptions {
  readonly edges: Edges;
  readonly clock: Clock;
  /** All objects that a plan may rest on, as they are now. */
  readonly objects: () => Promise<readonly KubeObject[]>;
  readonly note: (line: ForesightLine) => void;
}

/** A plan, and which of its steps have been done. */
interface Shown {
  readonly from: 'there' | 'seen';
  readonly plan: Plan;
  readonly done: Set<Step>;
}

interface Course {
  readonly pass: Pass;
  readonly number: number;
  /** By the clock, in milliseconds. */
  readonly began: number;
  shown: Promise<readonly Shown[]> | undefined;
  /** Something was refused, or not answered: the rest is left for another pass. */
  isCut: boolean;
}

export function liveForesight(options: LiveForesightOptions): Edges {
  const { edges, clock, objects, note } = options;
  const courses = new Map<string, Course>();
  /** By its cluster and its words, when and in which passes a step was done. */
  const doneIn = new Map<string, { readonly pass: number; readonly at: number }[]>();
  const nameOf = ({ pass }: Course, step: Step): string => `${pass.cluster.metadata.uid} ${describeStep(step)}`;
  let passes = 0;
  let acting = 0;

  const recorder = foresightRecorder({
    clock,
    objects: () => [],
    sent: () => 0,
    onlooker: {
      began(pass) {
        const { kind, metadata } = pass.cluster;
        const key = `${kind} ${metadata.namespace}/${metadata.name}`;
        const before = courses.get(key);
        if (before !== undefined) void complete(before);
        passes += 1;
        courses.set(key, { pass, number: passes, began: clock.monotonic(), shown: undefined, isCut: false });
      },
      async acting(act) {
        const course = [...courses.values()].find(({ pass }) => pass === act.pass);
        const isIt = (step: Step): boolean => step.type === 'act' && isDeepStrictEqual(step.action, act.action);
        await look(course === undefined ? [] : [course], act.action.type, isIt);
      },
    },
  });
  const recorded = recorder.life(1, edges);

  /** The plans of the moment before the first thing that the pass does. */
  function shownIn(course: Course): Promise<readonly Shown[]> {
    course.shown ??= (async () => {
      const pass: Pass = { ...course.pass, objects: await objects() };
      const shown: Shown[] = [];
      const add = async (from: Shown['from'], these: readonly KubeObject[]): Promise<void> => {
        for (const plan of await plansFrom(pass, these)) shown.push({ from, plan, done: new Set() });
      };
      if (!wasBehind(pass)) await add('there', pass.objects);
      else {
        // Of one that is not there any more, or not valid, there is no plan.
        await add('there', pass.objects).catch(() => undefined);
        await add('seen', asSeen(pass));
      }
      return shown;
    })();
    return course.shown;
  }

  function noteOf(
    course: Course | undefined,
    what: string,
    plannedFrom: ForesightLine['plannedFrom'],
    words: string,
    changes?: readonly FieldChange[],
  ): void {
    const { kind = '', metadata } = course?.pass.cluster ?? {};
    const cluster = course === undefined ? '' : `${kind}/${metadata?.name}`;
    const { generation } = metadata ?? {};
    const step = changes === undefined ? {} : { changes };
    note({ cluster, generation, pass: course?.number ?? 0, what, plannedFrom, words, ...step });
  }

  async function look(
    candidates: readonly Course[],
    what: string,
    isIt: (step: Step) => boolean,
    isForetold: (plan: Plan) => boolean = () => false,
  ): Promise<Course | undefined> {
    const [own] = candidates;
    try {
      for (const course of candidates) {
        const shown = await shownIn(course);
        const [first] = stepsOf(shown, isIt);
        const foretelling = shown.find(({ plan }) => isForetold(plan));
        if (first === undefined && foretelling !== undefined) {
          noteOf(course, what, foretelling.from, planWords(foretelling.plan));
          return course;
        }
        if (first === undefined) continue;
        const { from, step } = first;
        const name = nameOf(course, step);
        doneIn.set(name, [...(doneIn.get(name) ?? []), { pass: course.number, at: clock.monotonic() }]);
        noteOf(course, what, from, describeStep(step), 'changes' in step ? step.changes : undefined);
        return course;
      }
      const shown = own === undefined ? [] : await shownIn(own);
      const plans = shown.map(({ from, plan }) => `from what is ${from}, ${planWords(plan)}`);
      noteOf(own, what, 'none', plans.join('; ') || 'there was no pass');
    } catch (error) {
      noteOf(own, what, 'none', `no plan can be made: ${error instanceof Error ? error.stack : String(error)}`);
    }
    return own;
  }

  /** A pass that did something and met no refusal has done all of its steps. */
  async function complete(course: Course): Promise<void> {
    if (course.shown === undefined || course.isCut) return;
    const shown = await course.shown;
    if (shown.every(({ done }) => done.size === 0)) return;
    const since = course.began - rememberedMs;
    const wasMade = (step: Step): boolean =>
      doneIn.get(nameOf(course, step))?.some(({ pass, at }) => pass < course.number && at >= since) === true;
    const left = shown.map(({ plan: { steps }, done }) => {
      const waiting = waitingSteps(steps, wasMade);
      return steps.filter((step) => !done.has(step) && !isOptional(step) && !waiting.has(step));
    });
    if (left.some((steps) => steps.length === 0)) return;
    noteOf(
      course,
      'the end of the pass',
      'none',
      `planned, and not done: ${left.at(-1)?.map(describeStep).join('; ')}`,
    );
  }

  /** Those whose plan is made, the likely one first: of whose name the object's begins. */
  function candidatesFor(request: TransportRequest): readonly Course[] {
    const { namespace, name } = targetOf(request.path);
    const { metadata } = JSON.parse(request.body ?? '{}') as Partial<KubeObject>;
    const target = name ?? metadata?.name ?? '';
    const likeness = ({ pass }: Course): number => {
      const own = pass.cluster.metadata;
      return own.namespace === namespace && target.startsWith(own.name) ? own.name.length : 0;
    };
    return [...courses.values()]
      .filter(({ pass }) => pass.isPlanned)
      .sort((a, b) => likeness(b) - likeness(a) || b.number - a.number);
  }

  function counted<Of extends Pick<Assessment, 'act'>>(cluster: Cluster, assessment: Of): Of {
    return {
      ...assessment,
      async act(action: EngineAction) {
        acting += 1;
        try {
          await assessment.act(action);
        } catch (error) {
          for (const course of courses.values()) if (course.pass.cluster === cluster) course.isCut = true;
          throw error;
        } finally {
          acting -= 1;
        }
      },
    };
  }

  return {
    engines: recorded.engines.map((engine) => {
      const { removal } = engine;
      return {
        ...engine,
        assess: async (...given) => counted(given[0], await engine.assess(...given)),
        ...(removal === undefined
          ? {}
          : {
              async removal(...given: Parameters<typeof removal>) {
                const found = await removal(...given);
                return found === undefined ? undefined : counted(given[0], found);
              },
            }),
      };
    }),
    async dial(host, port, signal) {
      const socket = await recorded.dial(host, port, signal);
      const write = socket._write.bind(socket);
      socket._write = (chunk: Buffer | string, encoding, done) => {
        const command = changingCommand(Buffer.from(chunk as string, encoding));
        if (command !== undefined && acting === 0) {
          noteOf(undefined, `${command} at ${host}:${port}`, 'none', 'no action was at work');
        }
        write(chunk, encoding, done);
      };
      return socket;
    },
    transport: {
      stream: (request) => recorded.transport.stream(request),
      close: () => recorded.transport.close(),
      async request(request) {
        if (isApart({ request })) return recorded.transport.request(request);
        const what = `${request.method} ${request.path}`;
        const course = await look(
          candidatesFor(request),
          what,
          (step) => isShownBy(step, request),
          (plan) => isForetoldConflict(plan, request),
        );
        try {
          const response = await recorded.transport.request(request);
          if (response.status >= 400 && course !== undefined) course.isCut = true;
          return response;
        } catch (error) {
          if (course !== undefined) course.isCut = true;
          throw error;
        }
      },
    },
  };
}

/**
 * The operator does not watch what is somebody else's. It learns of it by its own POST, which the API server refuses, since
 * the name is taken: the plan says that in place of the step.
 */
function isForetoldConflict({ outcome }: Plan, { method, body }: TransportRequest): boolean {
  if (method !== 'POST' || outcome.state !== 'blocked' || outcome.reason !== 'NameConflict') return false;
  const { kind, metadata } = JSON.parse(body ?? '{}') as Partial<KubeObject>;
  return outcome.message.startsWith(`${kind} ${metadata?.name} exists and belongs to `);
}

/** Which of them it is, in each plan; there it is done. */
function stepsOf(
  shown: readonly Shown[],
  isIt: (step: Step) => boolean,
): readonly { readonly from: Shown['from']; readonly step: Step }[] {
  return shown.flatMap(({ from, plan, done }) => {
    const step = plan.steps.find(isIt);
    if (step !== undefined) done.add(step);
    return step === undefined ? [] : [{ from, step }];
  });
}
