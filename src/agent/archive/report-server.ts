/** Shows the report of an archive: 200 while it follows the log, 503 while it does not. */
import { createServer } from 'node:http';
import { type ArchiveReport, archiveReportPath } from '../../backup/archive-report.ts';
import { Failure } from '../../engine/driver/failure.ts';

export interface ReportServer {
  readonly port: number;
  close(): void;
}

/** @throws Failure Unexpected where the port is taken */
export function serveReport(port: number, report: () => ArchiveReport): Promise<ReportServer> {
  const server = createServer(
    { requestTimeout: 5_000, headersTimeout: 5_000, maxHeaderSize: 8192 },
    (request, response) => {
      request.resume();
      if (request.method !== 'GET' || request.url !== archiveReportPath) return void response.writeHead(404).end();
      const now = report();
      const body = `${JSON.stringify(now)}\n`;
      response.writeHead(now.state === 'following' ? 200 : 503, {
        'content-type': 'application/json',
        connection: 'close',
      });
      response.end(body);
    },
  );
  server.maxConnections = 16;
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(new Failure('Unexpected', `port ${port} cannot be used`, { cause })));
    server.listen(port, () => {
      const address = server.address();
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : port,
        close: () => void server.close().closeAllConnections(),
      });
    });
  });
}
