/** What the environment says that has a form of its own. An empty variable is as good as none. */
import { imageRegistryFault } from '../api/image.ts';
import { type LabelSelector, labelSelector, labelSelectorFault } from '../api/label-selector.ts';
import { defaultRollouts, isRolloutLimit, mostRollouts } from '../api/rollout-limit.ts';

export interface ControllerSettings {
  /** Of images that no resource names. */
  readonly imageRegistry: string | undefined;
  /** Of the resources to serve. */
  readonly selector: LabelSelector | undefined;
  /** How many clusters may roll out at once. */
  readonly maxConcurrentRollouts: number;
  /** In words: the controller does not start with them. */
  readonly faults: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

export function controllerSettings(env: Environment): ControllerSettings {
  const {
    CLUSTERWRIGHT_IMAGE_REGISTRY: registry = '',
    CLUSTERWRIGHT_RESOURCE_SELECTOR: text = '',
    CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS: rollouts = '',
  } = env;
  const limit = rollouts === '' ? defaultRollouts : Number(rollouts);
  const registryFault = registry === '' ? undefined : imageRegistryFault(registry);
  const selectorFault = text === '' ? undefined : labelSelectorFault(text);
  return {
    imageRegistry: registry === '' || registryFault !== undefined ? undefined : registry,
    selector: text === '' || selectorFault !== undefined ? undefined : labelSelector(text),
    maxConcurrentRollouts: isRolloutLimit(limit) ? limit : defaultRollouts,
    faults: [
      ...(registryFault === undefined ? [] : [`CLUSTERWRIGHT_IMAGE_REGISTRY ${registryFault}`]),
      ...(selectorFault === undefined ? [] : [`CLUSTERWRIGHT_RESOURCE_SELECTOR ${selectorFault}`]),
      ...(isRolloutLimit(limit) ? [] : [`CLUSTERWRIGHT_MAX_CONCURRENT_ROLLOUTS must be from 1 to ${mostRollouts}`]),
    ],
  };
}
