/** What differs between two texts, line by line: for configuration files inside of ConfigMaps. */

/** Lines that go, with `- ` before them, and lines that come, with `+ `, in their order. */
export function lineDiff(from: string, to: string): string[] {
  const a = linesOf(from);
  const b = linesOf(to);
  const common = commonSuffixLengths(a, b);
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  const diff: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      diff.push(`- ${a[i]}`);
      i += 1;
    } else {
      diff.push(`+ ${b[j]}`);
      j += 1;
    }
  }
  return diff;
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** At `[i][j]`, how many lines the texts from line i and line j on have in common at most, in order. */
function commonSuffixLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] ?? [];
      const next = lengths[i + 1] ?? [];
      row[j] = a[i] === b[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}
