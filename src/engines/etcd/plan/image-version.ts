/**
 * Whether `spec.image` holds another minor than `spec.version` says. Settings, backups and the way up and down follow the
 * version, so nothing may be rolled out while the two differ.
 *
 * What runs decides. Before anything runs from the image, its tag does, where it is a version of etcd.
 */

import { minorNumber, minorOf } from '../kind/versions.ts';
import { podName } from '../names.ts';
import { answering } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { isOutdated } from './outdated.ts';

export interface Mismatch {
  readonly message: string;
  /** Something runs from the image: what has been made of it may stay. */
  readonly runs: boolean;
}

export function imageMismatch(situation: Situation): Mismatch | undefined {
  const { spec, cluster, sets, observed } = situation;
  const { image, version } = spec;
  if (image === undefined) return undefined;
  const advice = `set spec.version to what the image holds, or spec.image to one of ${minorOf(version)}`;
  const live = answering(observed.members);
  const runs = [...sets].flatMap(([index, set]) => {
    const container = set.spec?.template?.spec?.containers?.find(({ name }) => name === 'etcd');
    const isOfImage = container?.image === image && !isOutdated(situation, { index });
    const member = live.find(({ pod }) => pod === podName(cluster.metadata.name, index));
    return isOfImage && member !== undefined && member.version !== '' ? [member] : [];
  });
  const other = runs.find((member) => minorNumber(member.version) !== minorNumber(version));
  if (other !== undefined) {
    const message = `${other.pod} runs ${other.version} from ${image}, and spec.version is ${version}: ${advice}`;
    return { message, runs: true };
  }
  const tagged = /^v?(3\.\d+)(?=$|[^\d])/.exec(tagOf(image))?.[1];
  return runs.length > 0 || tagged === undefined || tagged === minorOf(version)
    ? undefined
    : { message: `the tag of ${image} says ${tagged}, and spec.version is ${version}: ${advice}`, runs: false };
}

function tagOf(image: string): string {
  return /:([^:/@]+)(?:@.*)?$/.exec(image.replace(/@.*$/, ''))?.[1] ?? '';
}
