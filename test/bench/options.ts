/** What the command line asks for. Without arguments: everything, on a control plane of its own. */
import { parseArgs } from 'node:util';
import { type OwnWorkload, ownWorkloads } from './workload.ts';

export interface Options {
  /** Numbers of clusters to create at full speed, ascending. */
  readonly sizes: readonly number[];
  /** Seconds of the quiet window. */
  readonly rest: number;
  /** Changes a second. */
  readonly rates: readonly number[];
  /** Seconds at each rate. */
  readonly churnSeconds: number;
  /** Clusters with stand-in databases; 0 leaves the phase out. */
  readonly live: number;
  /** Parts to run; empty: all. */
  readonly only: readonly Part[];
  /** For Node, when our own controller is the subject: `--cpu-prof --cpu-prof-dir=build/prof`. */
  readonly nodeFlags: readonly string[];
  /** JSON merge patch of one change; `{i}` is a number that differs each time. Default: the workload's. */
  readonly change?: string;
  readonly subject: OwnSubject | RunningSubject;
}

export const parts = ['synth', 'schedules', 'rechecks', 'answers', 'ceiling', 'floor', 'converge', 'audit'] as const;
export type Part = (typeof parts)[number];

export interface OwnSubject {
  readonly type: 'own';
  readonly workload: OwnWorkload;
}

/** A controller that runs already and serves the namespaces `bench-*`. */
export interface RunningSubject {
  readonly type: 'running';
  readonly kubeconfig: string;
  /** How its requests' User-Agent begins. */
  readonly userAgent: string;
  readonly kind: string;
  /** One object in YAML or JSON, with `{name}` and `{namespace}` where they belong. */
  readonly manifestTemplate: string;
  /** Without it no CPU and memory are known. */
  readonly pid?: number;
  /** Without it no requests are counted. */
  readonly auditLog?: string;
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const kinds = ownWorkloads.map(({ resource }) => resource.kind);

export const usage = `npm run bench -- [options]

  --kind RedisCluster   or ${kinds.slice(1).join(', ')}: what to create
  --n 1,100,1000,5000   clusters to create at full speed
  --only PART,...       of ${parts.join(', ')}
  --rest 30             seconds of the quiet window
  --rates 10,50,100     spec changes a second, over at most 2500 clusters of the largest size
  --churn-seconds 20    seconds at each rate
  --live 1000           clusters with stand-in databases, 0 for none
  --change JSON         merge patch of a change; {i} differs each time
  --node-flags=FLAGS    for the controller's Node, for example --node-flags=--cpu-prof

Another controller, which runs already:
  --kubeconfig FILE --user-agent PREFIX --kind KIND --manifest-template FILE
  --pid N               for its CPU and memory
  --audit-log FILE      the API server's, level Metadata, for its requests
`;

function numbers(name: string, text: string): number[] {
  return text.split(',').map((each) => {
    const value = Number(each);
    if (each.trim() === '' || !Number.isInteger(value) || value < 0) {
      throw new UsageError(`--${name}: ${JSON.stringify(each)} is not a whole number`);
    }
    return value;
  });
}

function one(name: string, text: string): number {
  const [value, more] = numbers(name, text);
  if (value === undefined || more !== undefined) throw new UsageError(`--${name} takes one number`);
  return value;
}

/** @throws UsageError that names the option */
export function parseOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const values = parsed(() =>
    parseArgs({
      args: [...args],
      options: {
        n: { ...text, default: '1,100,1000,5000' },
        only: { ...text, default: '' },
        rest: { ...text, default: '30' },
        rates: { ...text, default: '10,50,100' },
        'churn-seconds': { ...text, default: '20' },
        live: { ...text, default: '1000' },
        change: text,
        'node-flags': { ...text, default: '' },
        kubeconfig: text,
        'user-agent': text,
        kind: text,
        'manifest-template': text,
        pid: text,
        'audit-log': text,
      },
    }),
  ).values;
  return {
    sizes: numbers('n', values.n).sort((a, b) => a - b),
    rest: one('rest', values.rest),
    rates: numbers('rates', values.rates),
    churnSeconds: one('churn-seconds', values['churn-seconds']),
    live: one('live', values.live),
    only: values.only === '' ? [] : values.only.split(',').map(partOf),
    nodeFlags: values['node-flags'].split(' ').filter((flag) => flag !== ''),
    ...(values.change === undefined ? {} : { change: values.change }),
    subject: subjectOf(values),
  };
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function partOf(name: string): Part {
  const part = parts.find((candidate) => candidate === name);
  if (part === undefined) throw new UsageError(`--only: ${name} is none of ${parts.join(', ')}`);
  return part;
}

function subjectOf(values: Readonly<Record<string, string | undefined>>): OwnSubject | RunningSubject {
  const { kubeconfig, kind, pid, 'user-agent': userAgent, 'manifest-template': manifestTemplate } = values;
  const auditLog = values['audit-log'];
  if ([kubeconfig, pid, userAgent, manifestTemplate, auditLog].every((value) => value === undefined)) {
    const workload = ownWorkloads.find(({ resource }) => resource.kind === (kind ?? kinds[0]));
    if (workload === undefined) throw new UsageError(`--kind: ${kind} is none of ${kinds.join(', ')}`);
    return { type: 'own', workload };
  }
  if (kubeconfig === undefined || kind === undefined || userAgent === undefined || manifestTemplate === undefined) {
    throw new UsageError('a running controller needs --kubeconfig, --user-agent, --kind and --manifest-template');
  }
  return {
    type: 'running',
    kubeconfig,
    userAgent,
    kind,
    manifestTemplate,
    ...(pid === undefined ? {} : { pid: one('pid', pid) }),
    ...(auditLog === undefined ? {} : { auditLog }),
  };
}
