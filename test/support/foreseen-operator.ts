/**
 * The operator under O13: in the bundle of the end-to-end tests and of the real layer this stands where
 * `src/runtime/operator.ts` stands in the one that ships. Everything else is the same.
 *
 * The environment says where the objects are read, by an administrator, and which file is told.
 */
import { appendFileSync } from 'node:fs';
import { childResources, optionalResources } from '../../src/api/child-resources.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { controllerRevisions, secrets } from '../../src/api/resource.ts';
import { isNotFound } from '../../src/runtime/api-error.ts';
import { createOperator as create, type Operator, type OperatorOptions } from '../../src/runtime/operator.ts';
import { type ForesightLine, liveForesight } from '../faults/foresight/live.ts';
import { connectKubernetes, type Kubernetes, listAll } from './kubernetes.ts';

export interface ForesightPlace {
  /** Of an administrator. */
  readonly kubeconfig: string;
  /** A line a thing that was done. */
  readonly file: string;
}

const kubeconfigVariable = 'CLUSTERWRIGHT_FORESIGHT_KUBECONFIG';
const fileVariable = 'CLUSTERWRIGHT_FORESIGHT_FILE';

/** For the process of an operator. */
export function foresightEnvironment({ kubeconfig, file }: ForesightPlace): Record<string, string> {
  return { [kubeconfigVariable]: kubeconfig, [fileVariable]: file };
}

export function createOperator(options: OperatorOptions): Operator {
  const { [kubeconfigVariable]: kubeconfig, [fileVariable]: file } = process.env;
  if (kubeconfig === undefined || file === undefined) throw new Error('nobody says where foresight is kept');
  return create(foreseen(options, { kubeconfig, file }));
}

/** The same, with every write and every action looked for in the plan of that moment. */
export function foreseen<
  Options extends Pick<OperatorOptions, 'engines' | 'transport' | 'dial' | 'clock' | 'namespaces'>,
>(options: Options, place: ForesightPlace): Options {
  const { engines, transport, dial, clock, namespaces } = options;
  const resources = [...engines.map(({ kind }) => kind.resource), ...childResources, secrets, controllerRevisions];
  let connected: Promise<Kubernetes> | undefined;

  async function objects(): Promise<readonly KubeObject[]> {
    connected ??= connectKubernetes(place.kubeconfig);
    const { client } = await connected;
    const lists = namespaces.flatMap((namespace) =>
      resources.map((resource) =>
        listAll(client, resource, namespace).catch((error: unknown) => {
          if (optionalResources.includes(resource) && isNotFound(error)) return [];
          throw error;
        }),
      ),
    );
    return (await Promise.all(lists)).flat();
  }

  const note = (line: ForesightLine): void => appendFileSync(place.file, `${JSON.stringify(line)}\n`);
  const edges = liveForesight({ edges: { engines, transport, dial }, clock, objects, note });
  return {
    ...options,
    ...edges,
    transport: {
      ...edges.transport,
      async close() {
        await edges.transport.close();
        await (await connected)?.close();
      },
    },
  };
}
