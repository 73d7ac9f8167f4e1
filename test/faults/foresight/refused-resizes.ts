/**
 * What the API server refused of resizes in place, and the same refused again: the operator remembers it for a while, and the CLI asks by dry
 * run, which the API server refuses likewise.
 */

import type { ObjectRef } from '../../../src/api/object.ts';
import { resizeAnnotation } from '../../../src/plan/resize.ts';
import { apiErrorOf } from '../../../src/runtime/api-error.ts';
import { isRefusal } from '../../../src/runtime/resize.ts';
import { refusalMs } from '../../../src/runtime/resizes.ts';
import { objectPath } from '../../../src/runtime/resource-path.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/runtime/transport.ts';

/** By the path of the pod, or of its resize. */
export type RefusedResizes = Map<string, { readonly at: number; readonly answer: TransportResponse<string> }>;

function isOfResize({ method, path, body = '' }: TransportRequest): boolean {
  return (
    method === 'PATCH' &&
    /\/pods\/[^/]+(\/resize)?$/.test(path) &&
    (path.endsWith('/resize') || body.includes(resizeAnnotation))
  );
}

/** The same transport. `refused` has what was refused last. */
export function withRefusedResizes(transport: Transport, refused: RefusedResizes, now: () => number): Transport {
  return {
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
    async request(request) {
      const answer = await transport.request(request);
      if (!isOfResize(request)) return answer;
      if (answer.status < 400) refused.delete(request.path);
      else if (isRefusal(apiErrorOf(request, answer, 0))) refused.set(request.path, { at: now(), answer });
      return answer;
    },
  };
}

/**
 * Throws what was answered, as long as the operator remembers it. Not as a missing right: the CLI takes that for one of the person who asks, and
 * whether the operator has it nobody else is told.
 */
export function refusedAgain(refused: RefusedResizes, now: number, ref: ObjectRef, subresource?: string): void {
  const path = objectPath(ref, subresource);
  const found = refused.get(path);
  if (found === undefined || now - found.at >= refusalMs) return;
  throw apiErrorOf({ method: 'PATCH', path }, { ...found.answer, status: 422 }, 0);
}
