/** A request that the API server does not carry out, as a `Status`. */
import type { StatusCause } from '../../../src/runtime/api-error.ts';
import type { TransportResponse } from '../../../src/runtime/transport.ts';

export class Refusal extends Error {
  readonly status: number;
  readonly reason: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    reason: string | undefined,
    message: string,
    details: { readonly causes?: readonly StatusCause[]; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.reason = reason;
    this.causes = details.causes ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
  }

  get body(): object {
    const { status: code, reason, message, causes, retryAfterSeconds } = this;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      details: {
        ...(causes.length === 0 ? {} : { causes }),
        ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      },
      code,
    };
  }

  get response(): TransportResponse<string> {
    const after = this.retryAfterSeconds;
    const headers = {
      'content-type': 'application/json',
      ...(after === undefined ? {} : { 'retry-after': `${after}` }),
    };
    return { status: this.status, headers, body: JSON.stringify(this.body) };
  }
}

export const notFound = (plural: string, name: string): Refusal =>
  new Refusal(404, 'NotFound', `${plural} "${name}" not found`);

export const conflict = (plural: string, name: string, why: string): Refusal =>
  new Refusal(409, 'Conflict', `Operation cannot be fulfilled on ${plural} "${name}": ${why}`);

export const modified = (plural: string, name: string): Refusal =>
  conflict(plural, name, 'the object has been modified; please apply your changes to the latest version and try again');

export const invalid = (kind: string, name: string, field: string, why: string): Refusal =>
  new Refusal(422, 'Invalid', `${kind} "${name}" is invalid: ${field}: ${why}`, {
    causes: [{ reason: 'FieldValueInvalid', message: why, field }],
  });

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message);

export const expired = (message: string): Refusal => new Refusal(410, 'Expired', message);
