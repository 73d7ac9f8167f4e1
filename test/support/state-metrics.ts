/** A real kube-state-metrics beside the API server, with a configuration of custom resources alone. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateMetricsPath } from '../monitoring/programs.ts';
import { freePort } from './free-port.ts';

export interface StateMetrics {
  /** Whole, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** What it has said so far. */
  log(): string;
  /** False once it has ended by itself. */
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** @param config the text of its configuration file */
export async function startStateMetrics(config: string, kubeconfig: string): Promise<StateMetrics> {
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
  return {
    async metrics() {
      return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
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
