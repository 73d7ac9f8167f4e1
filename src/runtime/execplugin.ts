/**
 * Credentials from a command, as kubeconfigs of cloud providers use them (`users[].user.exec`).
 *
 * The command runs when there is no credential yet, when the last one expires, and after a 401; calls that meet a run
 * in progress share it. What it prints stays in memory and appears in no message.
 */
import { execFile } from 'node:child_process';
import type { Clock } from '../system/clock.ts';
import { CredentialsError } from './credentials.ts';

export interface ExecPluginSpec {
  /** `client.authentication.k8s.io/v1` or `v1beta1`. */
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Shown when the command is missing. */
  readonly installHint?: string | undefined;
  /** Told to the command when the kubeconfig asks for it. */
  readonly cluster?: Readonly<Record<string, unknown>> | undefined;
}

export interface ExecCredential {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface ExecPlugin {
  credential(): Promise<ExecCredential>;
  invalidate(): void;
}

/** Runs the command to its end. Rejects if it cannot be started or fails; the error carries its exit code and stderr. */
export type RunCommand = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) => Promise<string>;

const TIMEOUT_MS = 60_000;
/** A credential this close to its end is renewed first: it must outlive the request. */
const EARLY_MS = 10_000;

export const runCommand: RunCommand = (command, args, env) =>
  new Promise((resolve, reject) => {
    const options = { env: { ...process.env, ...env }, timeout: TIMEOUT_MS, maxBuffer: 1024 * 1024 };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(Object.assign(error, { stderr }));
    });
    child.stdin?.end();
  });

/** `place` names the kubeconfig and the user, for errors. */
export function createExecPlugin(
  spec: ExecPluginSpec,
  place: string,
  clock: Clock,
  run: RunCommand = runCommand,
): ExecPlugin {
  let cached: { readonly credential: ExecCredential; readonly expiresAt: number } | undefined;
  let running: Promise<ExecCredential> | undefined;

  async function fetch(): Promise<ExecCredential> {
    const info = {
      apiVersion: spec.apiVersion,
      kind: 'ExecCredential',
      spec: { interactive: false, ...(spec.cluster === undefined ? {} : { cluster: spec.cluster }) },
    };
    let output: string;
    try {
      output = await run(spec.command, spec.args, { ...spec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) });
    } catch (cause) {
      throw new CredentialsError(place, `the command ${spec.command} failed: ${failureOf(cause, spec)}`, { cause });
    }
    const answer = parse(output, spec, place);
    cached = answer;
    return answer.credential;
  }

  return {
    async credential() {
      if (cached !== undefined && clock.now() < cached.expiresAt - EARLY_MS) return cached.credential;
      running ??= fetch().finally(() => {
        running = undefined;
      });
      return running;
    },
    invalidate() {
      cached = undefined;
    },
  };
}

function failureOf(cause: unknown, spec: ExecPluginSpec): string {
  const { code, stderr } = cause as { readonly code?: unknown; readonly stderr?: unknown };
  if (code === 'ENOENT') return ['it is not installed', spec.installHint].filter(Boolean).join('. ');
  const said = typeof stderr === 'string' ? (stderr.trim().split('\n').at(-1) ?? '') : '';
  return [`exit code ${code ?? 'unknown'}`, said].filter((part) => part !== '').join(': ');
}

interface Answer {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly status?: {
    readonly token?: unknown;
    readonly clientCertificateData?: unknown;
    readonly clientKeyData?: unknown;
    readonly expirationTimestamp?: unknown;
  };
}

function parse(output: string, spec: ExecPluginSpec, place: string): { credential: ExecCredential; expiresAt: number } {
  const refuse = (problem: string): never => {
    throw new CredentialsError(place, `the command ${spec.command} printed no usable ExecCredential: ${problem}`);
  };
  let answer: Answer;
  try {
    answer = JSON.parse(output) as Answer;
  } catch {
    // The parser's own message would quote the output, which may be a token.
    return refuse('it is not JSON');
  }
  if (answer?.kind !== 'ExecCredential') return refuse('its kind is not ExecCredential');
  if (answer.apiVersion !== spec.apiVersion) {
    return refuse(`its apiVersion is ${answer.apiVersion}, the kubeconfig says ${spec.apiVersion}`);
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
  if ((cert === undefined) !== (key === undefined)) return refuse('it has a client certificate or a key, but not both');
  if (token === undefined && cert === undefined) return refuse('it has neither a token nor a client certificate');
  const expiresAt =
    expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(String(expirationTimestamp));
  if (Number.isNaN(expiresAt)) return refuse(`its expirationTimestamp is not a date: ${expirationTimestamp}`);
  const credential = {
    ...(token === undefined ? {} : { token: String(token) }),
    ...(cert === undefined ? {} : { cert: String(cert), key: String(key) }),
  };
  return { credential, expiresAt };
}
