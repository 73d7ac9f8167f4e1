/** The registry of default images that an option or the environment names. Without either, `installed-operator.ts` reads it from the operator. */
import { imageRegistryFault } from '../api/image.ts';
import type { CliContext } from './cli-context.ts';
import { CommandError } from './fault.ts';

export interface ImageRegistryArguments {
  /** Default: `CLUSTERWRIGHT_IMAGE_REGISTRY`. */
  readonly imageRegistry?: string | undefined;
}

const variable = 'CLUSTERWRIGHT_IMAGE_REGISTRY';

/** What the option or the environment says; undefined where neither does. */
export function namedImageRegistry({ imageRegistry }: ImageRegistryArguments, { env }: Pick<CliContext, 'env'>) {
  const named = imageRegistry ?? env[variable];
  if (named === undefined || named === '') return undefined;
  const fault = imageRegistryFault(named);
  if (fault !== undefined)
    throw new CommandError(`${imageRegistry === undefined ? variable : '--image-registry'} ${fault}`);
  return named;
}
