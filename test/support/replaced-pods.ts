import type { Pod } from '../../src/resources/children.ts';
import { whileLooking } from './while-looking.ts';

/** Names of these pods in the order in which they were replaced while `work` went on, seen from the outside. */
export async function replacedPods(
  pods: () => Promise<readonly Pod[]>,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const before = new Map((await pods()).map(({ metadata }) => [metadata.name, metadata.uid]));
  const order: string[] = [];
  const look = async (): Promise<void> => {
    for (const { metadata } of await pods()) {
      if (before.get(metadata.name) !== metadata.uid && !order.includes(metadata.name)) order.push(metadata.name);
    }
  };
  await whileLooking(look, 100, work);
  return order;
}
