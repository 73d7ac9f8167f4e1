/** A real kube-state-metrics beside the API server, with a configuration of custom resources alone. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateMetricsPath } from '../monitoring/programs.ts';
import { freePort } from './free-port.ts';

export interface StateMetrics {
  /** Where Prometheus asks it. */
  readonly address: string;
  /** Whole, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** What it has said so far. */
  log(): string;
  /** False once it has ended by itself. */
  isRunning(): boolean;
  stop(): Promise<void>;
}

export interface StateMetricsOptions {
  /** The text of its configuration file. */
  readonly config: string;
  readonly kubeconfig: string;
  /** Default all. */
  readonly namespace?: string;
}

export async function startStateMetrics({ config, kubeconfig, namespace }: StateMetricsOptions): Promise<StateMetrics> {
  const directory = await mkdtemp(join(tmpdir(), 'clusterwright-state-metrics-'));
  const file = join(directory, 'config.yaml');
  await writeFile(file, config);
  const [port, telemetryPort] = [await freePort(), await freePort()];
  const child = spawn(
    stateMetricsPath,
    [
      `--kubeconfig=${kubeconfig}`,
      `--custom-resource-state-config-file=${file}`,
      '--custom-resource-state-only',
      ...(namespace === undefined ? [] : [`--namespaces=${namespace}`]),
      '--host=127.0.0.1',
      `--port=${port}`,
      '--telemetry-host=127.0.0.1',
      `--telemetry-port=${telemetryPort}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const address = `127.0.0.1:${port}`;
  return {
    address,
    async metrics() {
      return await (await fetch(`http://${address}/metrics`)).text();
    },
    log: () => said,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}
