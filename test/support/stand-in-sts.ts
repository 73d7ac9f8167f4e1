/**
 * Stands in for a security token service: it answers AssumeRoleWithWebIdentity as those of AWS, MinIO and Ceph do, and
 * asks nobody whether a token is good. What it gives out opens the test's own S3 server.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { s3Access } from './s3-server.ts';

export interface StandInSts {
  readonly endpoint: string;
  /** What it was asked, in order. */
  readonly asked: readonly Readonly<Record<string, string>>[];
  close(): Promise<void>;
}

export interface StsAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export const sessionToken = 'session-token-of-the-stand-in';

export function credentialsFor(seconds: number, change: Readonly<Record<string, string>> = {}): StsAnswer {
  const fields = {
    AccessKeyId: s3Access.accessKeyId,
    SecretAccessKey: s3Access.secretAccessKey,
    SessionToken: sessionToken,
    Expiration: new Date(Date.now() + seconds * 1000).toISOString(),
    ...change,
  };
  const inner = Object.entries(fields).map(([name, value]) => `<${name}>${value}</${name}>`);
  const result = `<AssumeRoleWithWebIdentityResult><Credentials>${inner.join('')}</Credentials></AssumeRoleWithWebIdentityResult>`;
  return { body: `<AssumeRoleWithWebIdentityResponse>${result}</AssumeRoleWithWebIdentityResponse>` };
}

export function refusal(status: number, code: string, message: string): StsAnswer {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body: `<ErrorResponse>${error}</ErrorResponse>` };
}

/** @param answer undefined says nothing at all */
export async function openSts(
  answer: (asked: Readonly<Record<string, string>>, index: number) => StsAnswer | undefined,
): Promise<StandInSts> {
  const asked: Readonly<Record<string, string>>[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const fields = Object.fromEntries(new URLSearchParams(Buffer.concat(pieces).toString('utf8')));
      const about = { ...fields, authorization: request.headers.authorization ?? '' };
      asked.push(about);
      const found = answer(about, asked.length - 1);
      if (found === undefined) return;
      response.writeHead(found.status ?? 200, found.headers ?? {});
      response.end(found.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
