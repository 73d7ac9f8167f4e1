/** A Prometheus of Debian's package that asks real pods, as PodMonitors tell the Prometheus operator to. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/object.ts';
import { lastingContainers, type Pod } from '../../src/resources/children.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly metric: Labels;
  readonly value: readonly [time: number, value: string];
}

/** One address, with the labels that service discovery gives it. */
export interface Target {
  readonly address: string;
  readonly labels: Labels;
}

interface Relabeling {
  readonly sourceLabels?: readonly string[];
  readonly targetLabel: string;
  readonly replacement?: string;
}

interface Container {
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

interface PodMonitorSpec {
  readonly selector: { readonly matchLabels: Labels };
  readonly podMetricsEndpoints: readonly {
    readonly port: string;
    readonly path: string;
    readonly relabelings: readonly Relabeling[];
  }[];
}

export interface Prometheus {
  /** Which targets each PodMonitor has from now on. */
  target(targets: Readonly<Record<string, readonly Target[]>>): Promise<void>;
  query(expr: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

const sanitized = (label: string): string => label.replace(/[^A-Za-z0-9_]/g, '_');

/** Those of the pods that a PodMonitor selects, by the port that it names. */
export function targetsOf(monitor: KubeObject, pods: readonly Pod[]): readonly Target[] {
  const { selector, podMetricsEndpoints } = monitor.spec as PodMonitorSpec;
  const port = podMetricsEndpoints[0]?.port;
  return pods.flatMap(({ metadata, spec, status }) => {
    const isSelected = Object.entries(selector.matchLabels).every(([key, value]) => metadata.labels?.[key] === value);
    const containers = lastingContainers(spec ?? {}) as readonly Container[];
    const found = containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === port);
    if (!isSelected || found === undefined || status?.podIP === undefined) return [];
    const meta = Object.entries(metadata.labels ?? {}).map(([key, value]) => [
      `__meta_kubernetes_pod_label_${sanitized(key)}`,
      value,
    ]);
    const { namespace = '', name } = metadata;
    const labels = { namespace, pod: name, __meta_kubernetes_pod_name: name, ...Object.fromEntries(meta) };
    return [{ address: `${status.podIP}:${found.containerPort}`, labels }];
  });
}

const relabelConfig = ({ sourceLabels, targetLabel, replacement }: Relabeling): object => ({
  target_label: targetLabel,
  ...(sourceLabels === undefined ? {} : { source_labels: sourceLabels }),
  ...(replacement === undefined ? {} : { replacement }),
});

/** `rules`: as in a PrometheusRule. Everything is asked and judged every two seconds. */
export async function startPrometheus(monitors: readonly KubeObject[], rules: object): Promise<Prometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'clusterwright-prometheus-'));
  const targetFile = (name: string): string => join(directory, `${name}.targets.json`);
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '2s' },
    rule_files: [join(directory, 'rules.json')],
    scrape_configs: monitors.map(({ metadata, spec }) => ({
      job_name: metadata.name,
      metrics_path: (spec as PodMonitorSpec).podMetricsEndpoints[0]?.path,
      file_sd_configs: [{ files: [targetFile(metadata.name)], refresh_interval: '1s' }],
      relabel_configs: (spec as PodMonitorSpec).podMetricsEndpoints[0]?.relabelings.map(relabelConfig),
    })),
  };
  await writeFile(join(directory, 'rules.json'), JSON.stringify(rules));
  // JSON is YAML.
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const base = `http://127.0.0.1:${port}`;
  await until('Prometheus is ready', async () => {
    if (!(await fetch(`${base}/-/ready`)).ok) throw new Error('not yet');
  });
  return {
    async target(targets) {
      for (const [name, list] of Object.entries(targets)) {
        const groups = list.map(({ address, labels }) => ({ targets: [address], labels }));
        // Renamed into place: Prometheus reads a file as soon as it changes.
        await writeFile(`${targetFile(name)}.new`, JSON.stringify(groups));
        await rename(`${targetFile(name)}.new`, targetFile(name));
      }
    },
    async query(expr) {
      const answer = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(expr)}`);
      const body = (await answer.json()) as { readonly data?: { readonly result: readonly Sample[] }; error?: string };
      if (body.data === undefined) throw new Error(`${expr}: ${body.error}`);
      return body.data.result;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}
