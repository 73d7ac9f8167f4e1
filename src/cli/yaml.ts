/**
 * YAML as kubectl understands it.
 *
 * kubectl reads YAML 1.1 without its times and base-60 numbers: `yes` and `on` are booleans, `1_000` and `0o14` are
 * numbers, `12:30` and `2001-01-01` are strings. Read otherwise, a manifest would be judged here by values that the API
 * server never sees; written otherwise, a string would come back as something else.
 */
import { type ScalarTag, type SchemaOptions, stringify, type Tags } from 'yaml';

/** `0o14`, which YAML 1.1 does not have and kubectl reads all the same. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  format: 'OCT',
  test: /^[-+]?0o[0-7_]+$/,
  resolve(text) {
    const size = Number(text.replaceAll('_', '').replace(/^[-+]/, ''));
    return text.startsWith('-') ? -size : size;
  },
};

function asKubectl(tags: Tags): Tags {
  const kept = tags.filter(
    (tag) => typeof tag === 'string' || !(tag.tag.endsWith(':timestamp') || ('format' in tag && tag.format === 'TIME')),
  );
  return [octal, ...kept];
}

export const kubectlYaml: SchemaOptions & { readonly version: '1.1' } = {
  version: '1.1',
  customTags: asKubectl,
};

/** One document, without a `---`; ends with a newline. */
export function yamlText(value: unknown): string {
  return stringify(value, { ...kubectlYaml, lineWidth: 0, aliasDuplicateObjects: false });
}
