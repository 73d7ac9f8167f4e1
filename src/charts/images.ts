/** Every image that the manifests name, and that databases run where their resources name none, one a line: what a mirror copies. */
import { operatorImage } from '../constructs/operator-identity.ts';
import { engines } from '../engines/index.ts';

export function imageList(): string {
  const images = [operatorImage, ...engines.flatMap(({ definition: { images = [] } }) => images)];
  return `${[...new Set(images)].sort().join('\n')}\n`;
}
