/** Where the operator takes images from that no resource names, where that is said. Else see `installed-operator.ts`. */
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
