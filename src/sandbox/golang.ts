/** The Go toolchain: is it there, is it new enough, and in which environment it compiles. */
import { attempt, type CommandResult } from './command.ts';
import { codeOf, SandboxError } from './error.ts';
import { goVersion } from './layout.ts';

/** The user's own flags and workspaces have no say in what the sandbox compiles. */
export const goEnvironment = { CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOWORK: 'off' } as const;

const advice = `Go ${goVersion} or newer must be on the PATH to compile Kubernetes (https://go.dev/dl)`;

/** @throws SandboxError when there is no Go, or only an older one. */
export async function requireGo(
  version: () => Promise<CommandResult> = () => attempt('go', ['version']),
): Promise<void> {
  const result = await version().catch((error: unknown) => {
    if (error instanceof SandboxError && codeOf(error.cause) === 'ENOENT') {
      throw new SandboxError(`there is no Go on this machine: ${advice}`, { cause: error });
    }
    throw error;
  });
  const found = /go version go(\S+)/.exec(result.stdout)?.[1];
  if (found === undefined) throw new SandboxError(`\`go version\` says nothing that makes sense: ${advice}`);
  if (isOlder(found, goVersion)) throw new SandboxError(`Go ${found} is too old: ${advice}`);
}

/** Compares the first two numbers: `1.24.3` is older than `1.25`, `1.26rc1` is not. */
export function isOlder(found: string, wanted: string): boolean {
  const [major = 0, minor = 0] = numbers(found);
  const [wantedMajor = 0, wantedMinor = 0] = numbers(wanted);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

function numbers(version: string): readonly number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10));
}
