/**
 * Backups as objects of a server that speaks S3.
 *
 * Only what all such servers understand is used: checksums as plain headers (see `s3-checksum.ts`), no bulk deletion, no
 * conditions. An upload that fails is aborted, so that nothing of it stays.
 */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { S3Place } from '../../backup/place.ts';
import type { AgentContext } from '../../engine/driver/agent-context.ts';
import { Failure } from '../../engine/driver/failure.ts';
import { piecesInTime } from '../../engine/driver/wait.ts';
import type { CredentialSource, Credentials } from './credentials.ts';
import { firstPartBytes, type Part, partsOf } from './parts.ts';
import { type ChecksumKind, checksumOf, refusesChecksum } from './s3-checksum.ts';
import { isExpired, isUnknownUpload, s3FailureOf } from './s3-failure.ts';
import type { StoredObject, Target } from './target.ts';

/** The values of the files that a place names, or what the platform gives instead of them. */
export type S3Secrets = (Credentials | { readonly identity: CredentialSource }) & {
  /** PEM */
  readonly ca?: string;
};

/** The source knows when to renew, so the client is never to keep what it was given. */
async function ofNow(source: CredentialSource): Promise<Credentials & { readonly expiration: Date }> {
  return { ...(await source.current()), expiration: new Date(0) };
}

/** Parts on their way while the next one is being filled: each is held in memory, and large ones are few. */
const partsOnTheirWay = (bytes: number): number => (bytes > firstPartBytes ? 1 : 2);
const connectMs = 10_000;
/** What is cleaned up after a stop has this long, in all: less than a pod is given to end. */
const cleanUpMs = 5_000;

export function s3Target(place: S3Place, secrets: S3Secrets, context: AgentContext): Target {
  const { signal, idleMs, log } = context;
  const { bucket: Bucket, prefix } = place;
  const { ca, ...given } = secrets;
  const source = 'identity' in given ? given.identity : undefined;
  const sockets = { keepAlive: true, maxSockets: 8 };
  const client = new S3Client({
    endpoint: place.endpoint,
    region: place.region,
    forcePathStyle: place.pathStyle,
    credentials: 'identity' in given ? () => ofNow(given.identity) : given,
    maxAttempts: 4,
    retryMode: 'standard',
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: Math.min(connectMs, idleMs),
      socketTimeout: idleMs,
      httpAgent: new HttpAgent(sockets),
      httpsAgent: new HttpsAgent({ ...sockets, ...(ca === undefined ? {} : { ca }) }),
    }),
  });
  const { algorithm, kmsKeyId } = place.serverSideEncryption ?? {};
  const atRest = {
    ...(algorithm === undefined ? {} : { ServerSideEncryption: algorithm }),
    ...(kmsKeyId === undefined ? {} : { SSEKMSKeyId: kmsKeyId }),
  };
  const keyOf = (key: string): string => (prefix === '' ? key : `${prefix}/${key}`);
  const late = (): Failure => new Failure('TargetUnreachable', `${place.endpoint} sent nothing for ${idleMs} ms`);

  /** Failures in terms of the agent. `options` carries the signal to each call. */
  async function asking<T>(what: string, ask: (options: { abortSignal: AbortSignal }) => Promise<T>, by = signal) {
    try {
      by.throwIfAborted();
      try {
        return await ask({ abortSignal: by });
      } catch (error) {
        // By the server's clock they have expired, and not by this one.
        if (source === undefined || !isExpired(error)) throw error;
        source.forget();
        return await ask({ abortSignal: by });
      }
    } catch (error) {
      throw by.aborted ? by.reason : s3FailureOf(error, `${what} ${Bucket} at ${place.endpoint}`);
    }
  }

  /** Falls back for good where the first thing that is written is refused with the newer one. */
  let kind: ChecksumKind = 'sha256';
  async function withChecksum<T>(write: (kind: ChecksumKind) => Promise<T>): Promise<T> {
    const tried = kind;
    try {
      return await write(tried);
    } catch (error) {
      const cause = error instanceof Failure ? error.cause : error;
      if (tried === 'md5' || !refusesChecksum(cause)) throw error;
      log.info({ err: error }, 'the server does not take SHA-256 checksums: Content-MD5 is sent');
      kind = 'md5';
      return await write('md5');
    }
  }

  const cleaningUp = (): AbortSignal => AbortSignal.timeout(cleanUpMs);

  async function abandon(Key: string, UploadId: string): Promise<void> {
    try {
      await asking(
        'ending an upload to',
        (options) => client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), options),
        cleaningUp(),
      );
    } catch (error) {
      log.warn({ err: error, key: Key }, 'an upload could not be ended: the next backup of this schedule sweeps it');
    }
  }

  async function uploaded(Key: string, first: Part, rest: AsyncIterator<Part, void>): Promise<void> {
    const { UploadId } = await withChecksum((by) => {
      const checksum = by === 'sha256' ? ({ ChecksumAlgorithm: 'SHA256' } as const) : {};
      return asking('beginning an upload to', (options) =>
        client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...atRest, ...checksum }), options),
      );
    });
    if (UploadId === undefined) throw new Failure('TargetRefused', `${place.endpoint} names no upload`);
    const sent: Promise<CompletedPart>[] = [];
    const send = ({ number: PartNumber, content: Body, release }: Part): void => {
      const sending = withChecksum(async (by): Promise<CompletedPart> => {
        const checksum = checksumOf(by, Body);
        const parameters = { Bucket, Key, UploadId, PartNumber, Body, ...checksum };
        const { ETag } = await asking('uploading to', (options) =>
          client.send(new UploadPartCommand(parameters), options),
        );
        const { ContentMD5: _, ...named } = checksum;
        return { PartNumber, ETag, ...named };
      }).then((part) => {
        release();
        return part;
      });
      // It is awaited below, perhaps after another one has failed.
      sending.catch(() => undefined);
      sent.push(sending);
    };
    try {
      send(first);
      for (;;) {
        const { done, value } = await rest.next();
        if (done) break;
        const most = partsOnTheirWay(value.content.length);
        if (sent.length >= most) await sent[sent.length - most];
        send(value);
      }
      const Parts = await Promise.all(sent);
      const whole = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
      const completing = asking('completing an upload to', (options) =>
        client.send(new CompleteMultipartUploadCommand(whole), options),
      );
      // The upload may be complete, and only its answer lost. The caller reads the object back.
      await completing.catch((error: unknown) => {
        if (!isUnknownUpload(error)) throw error;
      });
    } catch (error) {
      await Promise.allSettled(sent);
      await abandon(Key, UploadId);
      throw error;
    }
  }

  return {
    async put(key, content) {
      const Key = keyOf(key);
      const parts = partsOf(content);
      try {
        const first = await parts.next();
        if (first.done) throw new Error('content has one part at least');
        if (!first.value.isLast) return await uploaded(Key, first.value, parts);
        const { content: Body } = first.value;
        await withChecksum((kind) =>
          asking('writing to', (options) =>
            client.send(new PutObjectCommand({ Bucket, Key, Body, ...atRest, ...checksumOf(kind, Body) }), options),
          ),
        );
      } finally {
        await parts.return();
      }
    },
    async *get(key) {
      const { Body } = await asking(`reading ${key} from`, (options) =>
        client.send(new GetObjectCommand({ Bucket, Key: keyOf(key) }), options),
      );
      if (!(Body instanceof Readable)) throw new Failure('TargetRefused', `${place.endpoint} gives no content`);
      try {
        yield* piecesInTime(Body, context, late, () => Body.destroy());
      } catch (error) {
        throw signal.aborted ? signal.reason : s3FailureOf(error, `reading ${key} from ${Bucket} at ${place.endpoint}`);
      }
    },
    async *list(folder) {
      const Prefix = folder === '' ? (prefix === '' ? '' : `${prefix}/`) : `${keyOf(folder)}/`;
      let ContinuationToken: string | undefined;
      do {
        const token = ContinuationToken === undefined ? {} : { ContinuationToken };
        const page = await asking('listing', (options) =>
          client.send(new ListObjectsV2Command({ Bucket, Prefix, ...token }), options),
        );
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key === undefined) continue;
          const key = prefix === '' ? Key : Key.slice(prefix.length + 1);
          yield { key, bytes: Size ?? 0, modifiedAt: LastModified?.getTime() ?? 0 } satisfies StoredObject;
        }
        ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
        if (page.IsTruncated === true && ContinuationToken === undefined) {
          throw new Failure(
            'TargetRefused',
            `${place.endpoint} lists a part of ${Bucket}, and not how the rest is asked for`,
          );
        }
      } while (ContinuationToken !== undefined);
    },
    async remove(key) {
      const by = signal.aborted ? cleaningUp() : signal;
      await asking(
        `deleting ${key} from`,
        (abort) => client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(key) }), abort),
        by,
      );
    },
    async sweep(folder, before) {
      const { Uploads = [] } = await asking('listing uploads to', (options) =>
        client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: `${keyOf(folder)}/` }), options),
      );
      let swept = 0;
      for (const { Key, UploadId, Initiated } of Uploads) {
        if (Key === undefined || UploadId === undefined || Initiated === undefined) continue;
        if (Initiated.getTime() >= before) continue;
        await abandon(Key, UploadId);
        swept += 1;
      }
      return swept;
    },
    close: () => client.destroy(),
  };
}
