/** What an S3 client's error means: ask again, change something, or there is no such object. */
import { codeOf, Failure } from '../../engine/driver/failure.ts';

/** Codes of a server that is there and well, and does not want to. */
const refusals: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidBucketName',
  'InvalidToken',
  'MethodNotAllowed',
  'NoSuchBucket',
  'PermanentRedirect',
  'QuotaExceeded',
  'SignatureDoesNotMatch',
]);

const certificateFaults = /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_SSL/;

interface ServiceError {
  readonly name: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Temporary credentials, by the server's clock. */
export function isExpired(error: unknown): boolean {
  return (error as Partial<ServiceError> | undefined)?.name === 'ExpiredToken';
}

/** It has been completed or aborted, or there never was one. */
export function isUnknownUpload(error: unknown): boolean {
  return error instanceof Failure && (error.cause as Partial<ServiceError> | undefined)?.name === 'NoSuchUpload';
}

export function s3FailureOf(error: unknown, doing: string): Error {
  if (error instanceof Failure) return error;
  const { name, $metadata } = error as ServiceError;
  const status = $metadata?.httpStatusCode;
  const because = (words: string): string => `${doing}: ${words}`;
  if (name === 'NoSuchKey' || name === 'NotFound')
    return new Failure('NotFound', because('there is no such object'), { cause: error });
  if (refusals.has(name)) return new Failure('TargetRefused', because(name), { cause: error });
  if (certificateFaults.test(codeOf(error) ?? '')) {
    return new Failure('TargetRefused', because('its certificate is not to be trusted'), { cause: error });
  }
  if (status !== undefined && status >= 300 && status < 500 && status !== 408 && status !== 429) {
    return new Failure('TargetRefused', because(`${name}, status ${status}`), { cause: error });
  }
  return new Failure('TargetUnreachable', because('it did not work'), { cause: error });
}
