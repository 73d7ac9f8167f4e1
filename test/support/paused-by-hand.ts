/** Patroni after `patronictl pause`. */
import type { Story } from './postgres-situation.ts';

export const pausedByHand: NonNullable<Story['children']> = (objects) =>
  objects.map((object) => {
    const { config } = object.metadata.annotations ?? {};
    if (object.metadata.name !== 'db-config' || config === undefined) return object;
    const annotations = {
      ...object.metadata.annotations,
      config: JSON.stringify({ ...JSON.parse(config), pause: true }),
    };
    return { ...object, metadata: { ...object.metadata, annotations } };
  });
