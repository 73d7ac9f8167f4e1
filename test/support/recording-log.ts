/** A log that keeps what it is told. */
import type { Log } from '../../src/system/log.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export class RecordingLog implements Log {
  readonly entries: LogEntry[] = [];

  debug(fields: object, message: string): void {
    this.entries.push({ level: 'debug', fields: { ...fields }, message });
  }

  info(fields: object, message: string): void {
    this.entries.push({ level: 'info', fields: { ...fields }, message });
  }

  warn(fields: object, message: string): void {
    this.entries.push({ level: 'warn', fields: { ...fields }, message });
  }

  error(fields: object, message: string): void {
    this.entries.push({ level: 'error', fields: { ...fields }, message });
  }

  child(): Log {
    return this;
  }
}
