/** JSON objects whose fields are not known to the type checker. Values are never changed in place, so they may be shared. */

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const none: Fields = {};

/** The value if it is an object, an empty one if not. */
export const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : none);

/** The objects of a list; none where there is no list. */
export const itemsIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);
