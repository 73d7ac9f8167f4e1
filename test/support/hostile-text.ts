/** Printable text, with what means something to a parser made likely. */
import fc from 'fast-check';

const special = ['"', "'", '\\', '#', ' ', '\\n', '\\x41', '$(id)', '`id`', ';', '%', '€', '{', '*', '--'] as const;

export const hostileText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...special),
    fc.string({ minLength: 1, maxLength: 1 }).filter((character) => character !== '\u007f'),
  ),
});
