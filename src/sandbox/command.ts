/**
 * Runs a program to its end. A program that fails becomes a SandboxError that names it and carries its last lines.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { SandboxError } from './error.ts';

export interface CommandOptions {
  readonly cwd?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the program reads from its standard input; nothing by default. */
  readonly input?: string | Readable;
  /** Sees every line of both outputs as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface CommandResult {
  /** Null when a signal ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  /** Both outputs, in the order of arrival. */
  readonly output: string;
}

/** Runs a program and resolves whatever its exit code; rejects only when it cannot be started. */
export function attempt(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let output = '';
    let line = '';
    const take = (text: string): void => {
      output += text;
      if (options.onLine === undefined) return;
      const lines = (line + text).split('\n');
      line = lines.pop() ?? '';
      for (const whole of lines) options.onLine(whole);
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      take(text);
    });
    child.stderr?.setEncoding('utf8').on('data', take);
    child.on('error', (cause) => reject(new SandboxError(`cannot run ${command}: ${cause.message}`, { cause })));
    child.on('close', (code) => resolve({ code, stdout, output }));
    if (child.stdin !== null && options.input !== undefined) {
      // A program that stops reading early says why on its error output; the broken pipe itself says nothing.
      child.stdin.on('error', () => undefined);
      if (typeof options.input === 'string') child.stdin.end(options.input);
      else options.input.on('error', (error) => child.stdin?.destroy(error)).pipe(child.stdin);
    }
  });
}

/** Runs a program and returns its standard output; rejects when it fails. */
export async function run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await attempt(command, args, options);
  if (result.code !== 0) {
    const shown = [command, ...args].join(' ').slice(0, 200);
    throw new SandboxError(`${shown} failed (exit ${result.code ?? 'by signal'}):\n${lastLines(result.output, 8)}`);
  }
  return result.stdout;
}

/** The last `count` lines that are not empty, indented for a message. */
export function lastLines(text: string, count: number): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines
    .slice(-count)
    .map((line) => `  ${line}`)
    .join('\n');
}
