/** `clusterwright crds`: the CustomResourceDefinitions, as they are applied before anything else. */
import { customResourceDefinition } from '../api/crd.ts';
import { documentsText, type Format } from './documents.ts';
import type { Command } from './surroundings.ts';

export interface CrdsArguments {
  /** Default `yaml`. */
  readonly output?: Format | undefined;
}

export const crds: Command<CrdsArguments> = async ({ output = 'yaml' }, around) => {
  const handlers = await around.handlers();
  around.stdout(
    documentsText(
      handlers.map(({ kind }) => ({ object: customResourceDefinition(kind) })),
      output,
    ),
  );
  return 0;
};
