/** The structure that the documentation promises, held against every source file. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

/** `src/engines/redis/plan/plan.ts` is of `engines`; `src/main.ts` is of `main.ts`. */
const layerOf = (file: string): string => file.split('/')[1] ?? '';

/** Layer to the layers that it may import, besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  api: [],
  // Time, the log, connections: what every program takes from Node.js.
  system: [],
  // What controller and agent agree on: tasks, results, the form of what is stored.
  backup: ['api'],
  // Keys, certificates, and what a Secret with them says: nothing of Kubernetes.
  certificates: [],
  resources: ['api', 'backup'],
  plan: ['api', 'backup', 'certificates', 'resources'],
  // The contract: what an engine is, to the controller and to the backup agent.
  engine: ['api', 'backup', 'resources', 'plan', 'system'],
  // Backups and restores as Jobs, for every engine.
  jobs: ['api', 'backup', 'resources', 'plan', 'engine'],
  // Conformance of engines: published, and no part of any program.
  testing: ['api', 'backup', 'plan', 'resources', 'engine', 'jobs'],
  engines: ['api', 'backup', 'certificates', 'resources', 'plan', 'system', 'engine', 'jobs'],
  // What people watch, as Prometheus and kube-state-metrics read it: no program of the operator has it.
  monitoring: ['api', 'engine'],
  constructs: ['api', 'backup', 'resources', 'plan', 'engine', 'jobs', 'engines', 'monitoring'],
  charts: ['api', 'backup', 'resources', 'plan', 'system', 'engine', 'jobs', 'engines', 'constructs'],
  runtime: ['api', 'backup', 'certificates', 'resources', 'plan', 'system', 'engine', 'jobs'],
  // A process of its own, which knows nothing of Kubernetes.
  agent: ['api', 'backup', 'system', 'engine'],
  // A leaf: it needs the clock, the shape of an object and that of an image, and nobody but the CLI needs it.
  sandbox: ['api', 'system', 'engine', 'runtime'],
  cli: ['api', 'backup', 'resources', 'plan', 'system', 'engine', 'jobs', 'runtime', 'constructs', 'charts', 'sandbox'],
  'main.ts': ['charts', 'system'],
  'index.ts': ['api', 'constructs', 'engine', 'engines'],
  'backup-sdk.ts': ['api', 'backup'],
  'driver-sdk.ts': ['backup', 'engine', 'system'],
  'sdk.ts': ['api', 'resources', 'plan', 'engine', 'jobs'],
  'controller.ts': ['engines', 'runtime'],
  'agent.ts': ['agent', 'engines'],
  'reference.ts': ['api', 'engines', 'jobs', 'monitoring'],
  'cli.ts': ['cli', 'engines'],
};

/** Of the agent's process: it ends with its task. */
const isOfAgent = (file: string): boolean => /^src\/(agent|engine\/driver|engines\/[^/]+\/agent)\//.test(file);

it('nothing short-lived is tied to a signal that lives long', () => {
  const tying = sources.filter((file) => read(file).includes('AbortSignal.any('));
  expect(tying.filter((file) => !isOfAgent(file))).toEqual([]);
});

describe('imports point one way', () => {
  it.each(Object.keys(mayImport))('%s', (layer) => {
    const allowed = [layer, ...(mayImport[layer] ?? [])];
    const wrong = sources
      .filter((file) => layerOf(file) === layer)
      .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => target.startsWith('src/') && !allowed.includes(layerOf(target)));
    expect(wrong).toEqual([]);
  });

  it('no file imports itself through others, types included', () => {
    const done = new Set<string>();
    const circles: string[][] = [];
    const visit = (file: string, way: readonly string[]): void => {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file]);
      if (done.has(file) || !sources.includes(file)) return;
      done.add(file);
      for (const target of importsOf(file)) visit(target, [...way, file]);
    };
    for (const file of sources) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('docs/architecture.md says which folder may import which', () => {
    const rows = [...read('docs/architecture.md').matchAll(/^\| `([\w]+)` \| ((?:`\w+`(?:, )?)+|nothing) \|$/gm)];
    const told = rows.map(([, folder = '', list = '']) => [folder, [...list.matchAll(/`(\w+)`/g)].map(([, of]) => of)]);
    const folders = Object.entries(mayImport).filter(([layer]) => !layer.endsWith('.ts'));
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(folders));
  });

  it('every file is of a known layer', () => {
    expect(sources.filter((file) => !(layerOf(file) in mayImport))).toEqual([]);
  });

  it('programs and constructs are given the engines; nothing else takes them from the list', () => {
    const takers = sources.filter((file) => importsOf(file).includes('src/engines/index.ts'));
    expect(takers.filter((file) => !['constructs', 'charts'].includes(layerOf(file)))).toEqual([
      'src/cli.ts',
      'src/controller.ts',
      'src/reference.ts',
    ]);
  });

  it('no program contains what only tests need', () => {
    const takers = sources.filter((file) => importsOf(file).some((target) => layerOf(target) === 'testing'));
    expect(takers.filter((file) => layerOf(file) !== 'testing')).toEqual([]);
  });

  /** What is in an engine's folder, in the order in which it may be used: each row by those below it. */
  const rooms = [
    'kind',
    'names.ts',
    'action.ts',
    'definition.ts',
    'client',
    'backup/schemas.ts',
    'resources',
    'observe',
    'backup',
    'plan',
    'act',
    'status',
    'status.ts',
    // Kinds for what is inside its clusters.
    'contents.ts',
    'index.ts',
    // Of the sandbox: last, so that nothing of the engine uses it.
    'images.ts',
    // Likewise.
    'monitoring',
  ];
  const roomOf = (path: string): string => (rooms.includes(path) ? path : (path.split('/')[0] ?? ''));

  it.each(['etcd', 'postgres', 'redis'])('within the folder of %s, too', (engine) => {
    const folder = `src/engines/${engine}/`;
    const own = sources.filter((file) => file.startsWith(folder));
    const isInside = (path: string): boolean => path.startsWith(folder);
    const inside = (path: string): string => roomOf(path.slice(folder.length));
    const mayUse = (from: string, to: string): boolean =>
      from === 'agent'
        ? ['agent', 'kind', 'names.ts', 'client', 'backup/schemas.ts'].includes(to)
        : rooms.includes(to) && rooms.indexOf(to) <= rooms.indexOf(from);
    const wrong = own.flatMap((file) =>
      importsOf(file)
        .filter((target) => isInside(target) && !mayUse(inside(file), inside(target)))
        .map((target) => ({ file, target })),
    );
    expect(wrong).toEqual([]);
    expect(own.map(inside).filter((room) => room !== 'agent' && !rooms.includes(room))).toEqual([]);
  });

  it('an engine is in each list that it has a part for', () => {
    const lists = {
      'index.ts': 'index.ts',
      'agent/driver.ts': 'drivers.ts',
      'images.ts': 'images.ts',
      'monitoring/monitoring.ts': 'monitoring.ts',
    };
    const missing = Object.entries(lists).flatMap(([part, list]) =>
      sources
        .filter((file) => new RegExp(`^src/engines/[^/]+/${part.replace('.', '\\.')}$`).test(file))
        .filter((file) => !importsOf(`src/engines/${list}`).includes(file)),
    );
    expect(missing).toEqual([]);
  });

  it('no engine knows another', () => {
    const engineOf = (file: string): string | undefined => /^src\/engines\/([^/]+)\//.exec(file)?.[1];
    const across = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => engineOf(file) !== undefined && engineOf(target) !== undefined)
        .filter((target) => engineOf(target) !== engineOf(file))
        .map((target) => ({ file, target })),
    );
    expect(across).toEqual([]);
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
    const pure = [
      ...['api', 'backup', 'resources', 'plan', 'engine', 'jobs', 'testing', 'engines', 'monitoring'],
      ...['constructs', 'charts'],
    ];
    const isPure = (file: string): boolean => pure.includes(layerOf(file)) && !isOfAgent(file);
    const wrong = sources.filter((file) => isPure(file) && outside.test(read(file)));
    expect(wrong).toEqual([]);
  });

  it('time and chance come in as arguments', () => {
    const ambient = /\b(Date\.now|performance\.now|Math\.random|setTimeout|setInterval|new Date)\(/;
    const exempt = ['src/system/clock.ts'];
    const timeless = ['api', 'backup', 'resources', 'plan', 'testing', 'engines', 'monitoring', 'runtime', 'agent'];
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
      .filter((file) => ['api', 'backup', 'resources', 'plan', 'engines', 'runtime', 'agent'].includes(layerOf(file)))
      .filter((file) => /^import (?!type)[^;]*from '(cdk8s|constructs)/m.test(read(file)));
    expect(wrong).toEqual([]);
  });
});

describe('what the controller is made of', () => {
  /** What runs when a file does: types are left out. */
  const running = (file: string): string[] =>
    [...read(file).matchAll(/^(?:import|export) (?!type\b)[^;']*from '([^']+)'|\bimport\('([^']+)'\)/gm)].map(
      ([, named, dynamic]) => named ?? dynamic ?? '',
    );

  it('is a short list of packages', () => {
    const reached = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const target of running(file)) {
        if (target.startsWith('.')) visit(relative(root, resolve(root, dirname(file), target)));
        else if (!target.startsWith('node:')) packages.add(target.replace(/^((?:@[^/]+\/)?[^/]+).*/, '$1'));
      }
    };
    visit('src/controller.ts');
    expect(reached.size).toBeGreaterThan(50);
    expect([...packages].sort()).toEqual(['@marcbachmann/cel-js', 'pino', 'prom-client', 'undici', 'yaml']);
  });
});

describe('files are rooms with one thing in them', () => {
  const lines = (file: string): number => read(file).split('\n').length - 1;

  it('none has more than 450 lines, but for what is made of scripts', () => {
    const written = [...sources, ...tests].filter((file) => !file.endsWith('/shell/texts.ts'));
    expect(written.filter((file) => lines(file) > 450)).toEqual([]);
  });

  it('half of them have fewer than 120', () => {
    const sizes = sources.map(lines).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThan(120);
  });

  it('each is named by what it holds', () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|shared|lib)(\.test)?(\.ts|\/)/i;
    expect([...sources, ...tests].filter((file) => vague.test(file))).toEqual([]);
  });

  it('none exports by default', () => {
    // Vitest reads its configuration from a default export.
    const exporting = [...sources, ...tests].filter((file) => /^export default\b/m.test(read(file)));
    expect(exporting.filter((file) => !file.endsWith('/vitest.config.ts'))).toEqual([]);
  });

  it('none was left behind by somebody who looked for something', () => {
    const scratch = /(^|[/.-])(scratch|probe|playground|tmp|temp|wip|bak|copy)([/.-]|$)/i;
    expect([...sources, ...tests].filter((file) => scratch.test(file))).toEqual([]);
    expect(sources.filter((file) => /\bconsole\.(log|debug)\(|\bdebugger\b/.test(read(file)))).toEqual([]);
  });

  it('no way out of the type checker or the linter is left open', () => {
    const ways = /(:|\bas)\s+any\s*[;,)=\]>|{]|<any>|@ts-ignore|@ts-nocheck|\.only\(|\bTODO\b|\bFIXME\b/;
    const self = 'test/architecture.test.ts';
    expect([...sources, ...tests].filter((file) => file !== self && ways.test(read(file)))).toEqual([]);
  });
});

describe('pages', () => {
  const pages = [
    ...readdirSync(root).filter((file) => file.endsWith('.md')),
    ...['docs', 'examples'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.md'))
        .map((file) => `${folder}/${file}`),
    ),
  ];

  /** Without what is quoted: a pattern may look like a link. */
  const prose = (file: string): string => read(file).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');

  it('have no place that is still to be filled', () => {
    expect(pages.length).toBeGreaterThan(10);
    expect(pages.filter((file) => /^[A-Z]+_[A-Z_]+$|\b(TODO|TBD|FIXME)\b/m.test(prose(file)))).toEqual([]);
  });

  it('point to files that are there', () => {
    const links = pages.flatMap((file) =>
      [...prose(file).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, to = '']) => ({ file, to })),
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ file, to }) => !existsSync(join(root, dirname(file), to)))).toEqual([]);
  });
});
