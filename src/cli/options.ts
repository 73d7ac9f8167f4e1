/** Options that several commands take, with one meaning and one wording. */
import type { Argv, Options } from 'yargs';
import { defaultOperatorNamespace } from '../resources/operator-pods.ts';
import type { Format } from './documents.ts';
import type { Way } from './observation.ts';

const ways: readonly Way[] = ['forward', 'direct', 'never'];
const defaultWay: Way = 'forward';

export const askOption = {
  ask: {
    choices: ways,
    default: defaultWay,
    describe: 'How to ask the database processes: through the API server, at the addresses of their pods, or never',
  },
} as const satisfies Record<string, Options>;

export const fromOption = {
  from: { type: 'string', describe: 'Older version of the manifest; checks the rules on fields that may not change' },
} as const satisfies Record<string, Options>;

export const agentImageOption = {
  'agent-image': {
    type: 'string',
    describe: "Image that Jobs of backups run [default: CLUSTERWRIGHT_AGENT_IMAGE, else the operator's]",
  },
} as const satisfies Record<string, Options>;

export const imageRegistryOption = {
  'image-registry': {
    type: 'string',
    describe: "Registry of images that no resource names [default: CLUSTERWRIGHT_IMAGE_REGISTRY, else the operator's]",
  },
} as const satisfies Record<string, Options>;

export const operatorNamespaceOption = {
  'operator-namespace': {
    type: 'string',
    describe: `Namespace of the operator [default: CLUSTERWRIGHT_OPERATOR_NAMESPACE, else ${defaultOperatorNamespace}]`,
  },
} as const satisfies Record<string, Options>;

const formats: readonly Format[] = ['yaml', 'json'];

export const targetOptions = {
  kubeconfig: { type: 'string', describe: 'Kubeconfig file [default: KUBECONFIG, else ~/.kube/config]' },
  context: { type: 'string', describe: 'Context of the kubeconfig [default: the current one]' },
} as const satisfies Record<string, Options>;

export const namespaceOption = {
  namespace: { type: 'string', alias: 'n', describe: "Namespace [default: the context's]" },
} as const satisfies Record<string, Options>;

export function outputOption(describe: string) {
  return { output: { alias: 'o', choices: formats, describe } } as const satisfies Record<string, Options>;
}

/** A positional argument that must be given. */
export function required<T, const Name extends string>(
  yargs: Argv<T>,
  name: Name,
  describe: string,
): Argv<T & { [key in Name]: string }> {
  return yargs.positional(name, { type: 'string', demandOption: true, describe }) as Argv<
    T & { [key in Name]: string }
  >;
}
