/** The pages of the package link to files of the package. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

/** Without `build/`, to which no page links: it may not be compiled. */
function packedFiles(): readonly string[] {
  const listing = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [packed] = JSON.parse(listing) as Packed[];
  return (packed?.files ?? []).map(({ path }) => path).filter((path) => !path.startsWith('build/'));
}

/** Of Markdown that is no code, where the patterns of fields look like links. */
const linksOf = (page: string): readonly string[] => {
  const text = readFileSync(page, 'utf8').replace(/```.*?```|`[^`\n]*`/gs, '');
  const targets = [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => join(dirname(page), target));
};

test('every relative link of a page in the package leads to a file in it', () => {
  const files = packedFiles();
  const pages = files.filter((file) => file.endsWith('.md'));
  const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(300);
  const isThere = (link: string): boolean =>
    files.some((file) => file === link || file.startsWith(link.endsWith('/') ? link : `${link}/`));
  expect(links.filter(({ link }) => !isThere(link))).toEqual([]);
});

test('the examples are in the package, without what they install and write', () => {
  const examples = packedFiles().filter((file) => file.startsWith('examples/'));
  expect(examples).toEqual(
    expect.arrayContaining(['examples/gitops/main.ts', 'examples/gitops/cdk8s.yaml', 'examples/gitops/package.json']),
  );
  expect(examples.filter((file) => !/^examples\/[^/]+\/([^/]+\.ts|[A-Za-z0-9]+\.(md|json|yaml))$/.test(file))).toEqual(
    [],
  );
});
