/** `clusterwright crds`: the CustomResourceDefinitions, as they are applied before anything else. */
import { customResourceDefinition } from '../api/crd.ts';
import type { Command } from './cli-context.ts';
import { documentsText, type Format } from './documents.ts';

export interface CrdsArguments {
  /** Default `yaml`. */
  readonly output?: Format | undefined;
}

export const crds: Command<CrdsArguments> = async ({ output = 'yaml' }, cli) => {
  const handlers = await cli.handlers();
  cli.stdout(
    documentsText(
      handlers.map(({ kind }) => ({ object: customResourceDefinition(kind) })),
      output,
    ),
  );
  return 0;
};
