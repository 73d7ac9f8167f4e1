/** Scalars read as kubectl reads them: the expectations are what `kubectl create --dry-run=client -o json` printed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { kubectlYaml, yamlText } from '../../src/cli/yaml.ts';

const scalars: readonly (readonly [string, unknown])[] = [
  ['yes', true],
  ['y', true],
  ['on', true],
  ['off', false],
  ['No', false],
  ['n', false],
  ['True', true],
  ['tRUE', 'tRUE'],
  ['0o14', 12],
  ['014', 12],
  ['-012', -10],
  ['0o8', '0o8'],
  ['08', 8],
  ['1_000', 1000],
  ['0x1F', 31],
  ['0b11', 3],
  ['1e3', 1000],
  ['12:30:45', '12:30:45'],
  ['190:20:30.15', '190:20:30.15'],
  ['2001-01-01', '2001-01-01'],
  ['2001-12-14t21:59:43.10-05:00', '2001-12-14t21:59:43.10-05:00'],
  ['~', null],
  ['null', null],
  ['=', '='],
  ['"yes"', 'yes'],
  ['8.0', 8],
  ['1Gi', '1Gi'],
];

describe('YAML', () => {
  it.each(scalars)('reads %s as kubectl does', (text, value) => {
    expect(parse(`a: ${text}`, kubectlYaml)).toEqual({ a: value });
  });

  it('reads back what it wrote', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom(...scalars.map(([written]) => written)));
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.integer(), fc.boolean())), (list) => {
        expect(parse(yamlText({ list }), kubectlYaml)).toEqual({ list });
      }),
    );
  });

  it('quotes what a YAML 1.1 reader would take for something else', () => {
    expect(yamlText({ a: 'yes', b: '0o14', c: '12:30', d: '1_000' })).toBe(
      'a: "yes"\nb: "0o14"\nc: 12:30\nd: "1_000"\n',
    );
  });
});
