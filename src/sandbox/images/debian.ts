/**
 * A root file system of Debian packages, without an installation: packages are unpacked and none of their scripts runs.
 *
 * It holds what a program needs and a busybox for a shell; pods may run as any of the users it knows.
 */
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LayerRecipe } from '../../engine/image-recipe.ts';
import { attempt, run } from '../command.ts';
import { codeOf, SandboxError } from '../error.ts';
import { isThere, listIfThere } from '../file.ts';

const shareless = ['doc', 'man', 'info', 'locale', 'lintian', 'bash-completion', 'bug'].map(
  (name) => `usr/share/${name}`,
);
const needless = [...shareless, 'var/lib/apt', 'var/lib/dpkg/info', 'var/cache', 'var/log', 'etc/apt'];

type DebianRecipe = Extract<LayerRecipe, { readonly kind: 'debian' }>;

/** Programs look their own user up; no installation script has made these. */
const users = [
  { name: 'root', id: 0, home: '/root' },
  { name: 'app', id: 999, home: '/tmp' },
  { name: 'user', id: 1000, home: '/tmp' },
  { name: 'nonroot', id: 65532, home: '/tmp' },
];

/** Fills `root`, which must not exist yet. */
export async function debianRoot(root: string, recipe: DebianRecipe, report: (detail: string) => void): Promise<void> {
  report(`Debian ${recipe.suite}`);
  // base-files brings the links from /lib to /usr/lib, without which nothing finds its loader.
  const include = ['base-files', 'busybox-static', ...recipe.packages].join(' ');
  await run('mmdebstrap', ['--quiet', '--variant=extract', `--include=${include}`, recipe.suite, root], {
    env: { SOURCE_DATE_EPOCH: '0' },
  });
  const removed = recipe.without === 'perl' ? [...needless, ...(await perlIn(root))] : needless;
  await Promise.all(removed.map((path) => rm(join(root, path), { recursive: true, force: true })));
  for (const device of await readdir(join(root, 'dev')))
    await rm(join(root, 'dev', device), { recursive: true, force: true });
  await run('chroot', [root, await busyboxIn(root), '--install', '-s']).catch(alreadyThere);
  // A package of shared libraries would have its script do this.
  if ((await attempt('chroot', [root, '/sbin/ldconfig'])).code !== 0) report('no ldconfig');
  await Promise.all(
    ['proc', 'data', 'tmp', 'usr/local/bin'].map((path) => mkdir(join(root, path), { recursive: true })),
  );
  await chmod(join(root, 'tmp'), 0o1777);
  await writeUsers(root);
  await joinCertificates(root);
}

async function perlIn(root: string): Promise<readonly string[]> {
  const libraries = (await listIfThere(join(root, 'usr/lib'))).filter((name) => name.endsWith('-linux-gnu'));
  const directories = ['usr/bin', 'usr/share', ...libraries.map((name) => `usr/lib/${name}`)];
  const found = directories.map(async (directory) => {
    const names = await listIfThere(join(root, directory));
    return names.filter((name) => /^(lib)?perl/.test(name)).map((name) => join(directory, name));
  });
  return (await Promise.all(found)).flat();
}

async function busyboxIn(root: string): Promise<string> {
  for (const path of ['/usr/bin/busybox', '/bin/busybox']) if (await isThere(join(root, path))) return path;
  throw new SandboxError(`busybox is not in ${root}`);
}

/** busybox leaves programs that are there as they are, says so, and counts it as a failure. */
function alreadyThere(error: unknown): void {
  if (!(error instanceof SandboxError) || !error.message.includes('File exists')) throw error;
}

async function writeUsers(root: string): Promise<void> {
  const passwd = users.map(({ name, id, home }) => `${name}:x:${id}:${id}::${home}:/bin/sh\n`).join('');
  const group = users.map(({ name, id }) => `${name}:x:${id}:\n`).join('');
  await Promise.all([
    writeFile(join(root, 'etc/passwd'), passwd, { flag: 'wx' }).catch(unlessThere),
    writeFile(join(root, 'etc/group'), group, { flag: 'wx' }).catch(unlessThere),
  ]);
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

/** The authorities in one file, where OpenSSL and Go look for them. */
async function joinCertificates(root: string): Promise<void> {
  const directory = join(root, 'usr/share/ca-certificates/mozilla');
  const names = await listIfThere(directory);
  if (names.length === 0) return;
  const parts = await Promise.all(names.toSorted().map((name) => readFile(join(directory, name), 'utf8')));
  await mkdir(join(root, 'etc/ssl/certs'), { recursive: true });
  await writeFile(join(root, 'etc/ssl/certs/ca-certificates.crt'), parts.join(''));
}
