/**
 * Requests by verb and resource, counted from the API server's audit log by the User-Agent that they came from: the
 * server's own account, whatever a controller says about itself.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';

/** `VERB RESOURCE[/SUBRESOURCE]` to the number of requests. */
export type RequestCounts = Readonly<Record<string, number>>;

interface AuditEvent {
  readonly stage?: string;
  readonly verb?: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
}

/** The request that a line tells of; undefined for another's, and for the end of a request that was counted already. */
export function requestOf(line: string, userAgent: string): string | undefined {
  const event = JSON.parse(line) as AuditEvent;
  if (!event.userAgent?.startsWith(userAgent)) return undefined;
  // A watch has two lines: it is counted when it begins, so that one that is open counts.
  const counted = event.verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete';
  if (event.stage !== counted) return undefined;
  const { resource = 'other', subresource } = event.objectRef ?? {};
  return `${event.verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}

export interface AuditLog {
  /** Requests since the last call, or since the log was opened. */
  take(): Promise<RequestCounts>;
}

/** Counts from the end of the file as it is now. */
export async function openAuditLog(file: string, userAgent: string): Promise<AuditLog> {
  let start = (await stat(file)).size;
  return {
    async take() {
      const { size } = await stat(file);
      const counts: Record<string, number> = {};
      if (size === start) return counts;
      const lines = createInterface({ input: createReadStream(file, { start, end: size - 1 }) });
      let read = 0;
      for await (const line of lines) {
        // The last line may not be written to its end yet: it is left for the next time.
        if (start + read + Buffer.byteLength(line) >= size) break;
        read += Buffer.byteLength(line) + 1;
        const request = requestOf(line, userAgent);
        if (request !== undefined) counts[request] = (counts[request] ?? 0) + 1;
      }
      start += read;
      return counts;
    },
  };
}

const quiet = /^(watch )|( leases)$/;

/** Without what a quiet controller may do: watches, and its lease. */
export function besidesWatchesAndLease(counts: RequestCounts): RequestCounts {
  return Object.fromEntries(Object.entries(counts).filter(([request]) => !quiet.test(request)));
}

export function sum(counts: RequestCounts, which: RegExp = /./): number {
  return Object.entries(counts).reduce((total, [request, count]) => total + (which.test(request) ? count : 0), 0);
}
