/** What `up` says in the end: what is running, and how to use it. */
import type { Cluster } from '../../api/cluster.ts';
import type { KindHandler } from '../../engine/engine.ts';
import type { Deployed } from './deploy.ts';

export interface SummaryOptions {
  readonly engines: readonly Pick<KindHandler, 'kind' | 'shell'>[];
  /** What to type to run this program. */
  readonly command: string;
  /** A line for the shell, where one is needed to reach the cluster. */
  readonly shell?: string;
  /** `--context NAME`, where the cluster is not the current one of the shell. */
  readonly context?: string;
}

export function summaryText({ operators, clusters }: Deployed, options: SummaryOptions): string {
  const { command, shell, context } = options;
  const flag = context === undefined ? '' : ` --context ${context}`;
  const blocks = [
    ['Running:', ...operators.map(({ metadata }) => `  operator   ${metadata.namespace}/${metadata.name}`)].concat(
      clusters.map((cluster) => `  sample     ${clusterLine(cluster)}`),
    ),
    ...(shell === undefined ? [] : [['In this shell:', `  ${shell}`]]),
    [
      'To look at it:',
      `  ${command} status${flag} --all-namespaces`,
      `  kubectl${flag} get clusterwright --all-namespaces`,
    ],
    ...clusters.map((cluster) => connectLines(cluster, options.engines, flag)),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function clusterLine({ kind, metadata, status = {} }: Cluster): string {
  const primary = status.primary === undefined ? '' : `, primary ${status.primary}`;
  const version = status.version === undefined ? '' : `, version ${status.version}`;
  return `${kind} ${metadata.namespace}/${metadata.name}: ${status.phase ?? ''}${primary}${version}`;
}

function connectLines(
  { kind, metadata, spec, status = {} }: Cluster,
  engines: SummaryOptions['engines'],
  flag: string,
): string[] {
  const { namespace, name } = metadata;
  const { services = [], secretName } = status.connection ?? {};
  const [main] = services;
  const pod = status.primary ?? status.members?.[0]?.name;
  const client = engines.find((engine) => engine.kind.resource.kind === kind)?.shell;
  const scope = `kubectl${flag} -n ${namespace}`;
  return [
    `To connect to ${kind} ${name}:`,
    ...services.map(({ role, host, port }) => `  ${role.padEnd(10)} ${host}.${namespace}.svc:${port}`),
    ...(secretName === undefined
      ? []
      : [`  password   ${scope} get secret ${secretName} -o jsonpath='{.data.password}' | base64 -d`]),
    ...(client === undefined || pod === undefined || main === undefined
      ? []
      : [`  try it     ${scope} exec -it ${pod} -- ${client(main.host, spec as object)}`]),
  ];
}
