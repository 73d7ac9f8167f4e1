/** The structure that the documentation promises, held against every source file. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`)
    .sort();
}

const sources = filesBelow('src');
const tests = filesBelow('test');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** What a file imports from this project, as paths from the root. */
function importsOf(file: string): string[] {
  const specifiers = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) => path);
  return specifiers.map((path) => relative(root, resolve(root, dirname(file), path)));
}

/** `src/engines/redis/plan.ts` is of `engines`; `src/main.ts` is of `main.ts`. */
const layerOf = (file: string): string => file.split('/')[1] ?? '';

/** Layer to the layers that it may import, besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  api: [],
  resources: ['api'],
  plan: ['api', 'resources'],
  engines: ['api', 'resources', 'plan'],
  constructs: ['api', 'resources', 'plan', 'engines'],
  charts: ['api', 'resources', 'plan', 'engines', 'constructs'],
  runtime: ['api', 'resources', 'plan', 'engines'],
  // A leaf: it needs the clock and the shape of an object, and nobody but the CLI needs it.
  sandbox: ['api', 'runtime'],
  cli: ['api', 'resources', 'plan', 'engines', 'runtime', 'constructs', 'charts', 'sandbox'],
  'main.ts': ['charts'],
  'index.ts': ['api', 'constructs'],
  'controller.ts': ['runtime'],
  'reference.ts': ['api'],
  'cli.ts': ['cli', 'runtime'],
};

describe('imports point one way', () => {
  it.each(Object.keys(mayImport))('%s', (layer) => {
    const allowed = [layer, ...(mayImport[layer] ?? [])];
    const wrong = sources
      .filter((file) => layerOf(file) === layer)
      .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => target.startsWith('src/') && !allowed.includes(layerOf(target)));
    expect(wrong).toEqual([]);
  });

  it('every file is of a known layer', () => {
    expect(sources.filter((file) => !(layerOf(file) in mayImport))).toEqual([]);
  });

  it('the CRDs are made without what is made from them', () => {
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file) || !file.endsWith('.ts') || !file.startsWith('src/')) return;
      reached.add(file);
      importsOf(file).forEach(visit);
    };
    visit('src/charts/crds.ts');
    expect(reached.size).toBeGreaterThan(5);
    expect([...reached].flatMap(importsOf).filter((target) => target.startsWith('imports/'))).toEqual([]);
  });
});

describe('the outside world stays outside', () => {
  const outside = /from 'node:(net|tls|http|https|dgram|child_process|fs|fs\/promises|timers|worker_threads)'/;

  it('no sockets, files or processes in what is pure', () => {
    const pure = ['api', 'resources', 'plan', 'engines', 'constructs', 'charts'];
    const wrong = sources.filter((file) => pure.includes(layerOf(file)) && outside.test(read(file)));
    expect(wrong).toEqual([]);
  });

  it('time and chance come in as arguments', () => {
    const ambient = /\b(Date\.now|performance\.now|Math\.random|setTimeout|setInterval|new Date)\(/;
    const exempt = ['src/runtime/clock.ts'];
    const timeless = ['api', 'resources', 'plan', 'engines', 'runtime'];
    const wrong = sources
      .filter((file) => timeless.includes(layerOf(file)) && !exempt.includes(file))
      .flatMap((file) =>
        read(file)
          .split('\n')
          .filter((line) => ambient.test(line) && !/^\s*(\*|\/\/)/.test(line) && !/new Date\([^)]/.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    expect(wrong).toEqual([]);
  });

  it('the controller bundles no cdk8s: engines and what they use know its types alone', () => {
    const wrong = sources
      .filter((file) => ['api', 'resources', 'plan', 'engines', 'runtime'].includes(layerOf(file)))
      .filter((file) => /^import (?!type)[^;]*from '(cdk8s|constructs)/m.test(read(file)));
    expect(wrong).toEqual([]);
  });
});

describe('files are rooms with one thing in them', () => {
  const lines = (file: string): number => read(file).split('\n').length - 1;

  it('none has more than 450 lines', () => {
    expect([...sources, ...tests].filter((file) => lines(file) > 450)).toEqual([]);
  });

  it('half of them have fewer than 120', () => {
    const sizes = sources.map(lines).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThan(120);
  });

  it('each is named by what it holds', () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|shared|lib)(\.test)?(\.ts|\/)/i;
    expect([...sources, ...tests].filter((file) => vague.test(file))).toEqual([]);
  });

  it('no way out of the type checker or the linter is left open', () => {
    const ways = /(:|\bas)\s+any\s*[;,)=\]>|{]|<any>|@ts-ignore|@ts-nocheck|\.only\(|\bTODO\b|\bFIXME\b/;
    const self = 'test/architecture.test.ts';
    expect([...sources, ...tests].filter((file) => file !== self && ways.test(read(file)))).toEqual([]);
  });
});
