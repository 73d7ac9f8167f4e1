/**
 * Defaults of earlier versions of the CRDs. The API server has stored them in objects, and the schema refuses them now. They mean the same as
 * the defaults of now.
 */
type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As JSON, by the field of `spec.networkPolicy`. */
const earlier: Fields = { clients: '[{"podSelector":{}}]', metrics: '[{"namespaceSelector":{}}]' };

/** `content`: of a stored object. Without such a default, the default of now is filled in. */
export function withoutEarlierDefaults(content: Fields): Fields {
  const { spec } = content;
  if (!isFields(spec) || !isFields(spec.networkPolicy)) return content;
  const kept = Object.entries(spec.networkPolicy).filter(([name, list]) => earlier[name] !== JSON.stringify(list));
  return { ...content, spec: { ...spec, networkPolicy: Object.fromEntries(kept) } };
}
