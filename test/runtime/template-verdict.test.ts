/** What answers to a dry run of a pod mean, in the words of the API server. */
import { expect, it } from 'vitest';
import { ApiError, ApiUnreachable } from '../../src/runtime/api-error.ts';
import { verdictOn } from '../../src/runtime/template-verdict.ts';

const answer = (status: number, reason: string, message: string): ApiError =>
  new ApiError({ status, reason, message, method: 'POST', path: '/api/v1/namespaces/apps/pods' });
const forbidden = (why: string): ApiError => answer(403, 'Forbidden', `pods "db-0" is forbidden: ${why}`);

it.each<readonly [story: string, state: string, error: Error]>([
  ['PriorityClass', 'refused', forbidden('no PriorityClass with name nobody was found')],
  ['LimitRange', 'refused', forbidden('maximum memory usage per Container is 1Gi, but limit is 2Gi')],
  ['Pod Security', 'refused', forbidden('violates PodSecurity "restricted:latest": runAsNonRoot != true')],
  ['ServiceAccount', 'refused', forbidden('error looking up service account apps/db: serviceaccount "db" not found')],
  ['a server that has just started', 'unknown', forbidden('not yet ready to handle request')],
  [
    'a quota that nobody has counted yet',
    'unknown',
    forbidden('status unknown for quota: q, resources: limits.memory'),
  ],
  ['a quota that wants limits', 'refused', forbidden('failed quota: q: must specify limits.cpu for: redis')],
  [
    'a quota that is used up, for a pod that gives its share back first',
    'overQuota',
    forbidden('exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3'),
  ],
  ['the name, which is asked for last', 'accepted', answer(409, 'AlreadyExists', 'pods "db-0" already exists')],
  [
    'a conflict of something else',
    'unknown',
    answer(409, 'Conflict', 'Operation cannot be fulfilled on resourcequotas'),
  ],
  ['validation', 'refused', answer(422, 'Invalid', 'Pod "db-0" is invalid: spec.containers[0].image: Required value')],
  [
    'a ValidatingAdmissionPolicy',
    'refused',
    answer(
      422,
      'Invalid',
      "pods \"db-0\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    ),
  ],
  [
    'a ValidatingAdmissionPolicy with a reason of its own',
    'refused',
    answer(
      413,
      'RequestEntityTooLarge',
      "pods \"db-0\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    ),
  ],
  ['a webhook', 'refused', answer(403, 'Forbidden', 'admission webhook "p.example" denied the request: no')],
  [
    'a webhook, without a reason',
    'refused',
    answer(400, 'BadRequest', 'admission webhook "p.example" denied the request without explanation'),
  ],
  [
    'a webhook, with a code of its own',
    'refused',
    answer(500, 'InternalError', 'admission webhook "p.example" denied the request: no'),
  ],
  [
    'a webhook that says what a taken name says',
    'refused',
    answer(409, 'AlreadyExists', 'admission webhook "p.example" denied the request: one such pod is enough'),
  ],
  [
    'a webhook that is down',
    'unknown',
    answer(500, 'InternalError', 'Internal error occurred: failed calling webhook "p.example": connection refused'),
  ],
  [
    'a webhook with side effects',
    'unasked',
    answer(400, 'BadRequest', 'admission webhook "p.example" does not support dry run'),
  ],
  [
    'the right to ask',
    'unasked',
    answer(
      403,
      'Forbidden',
      'pods is forbidden: User "operator" cannot create resource "pods" in API group "" in the namespace "apps"',
    ),
  ],
  ['a request of ours that is wrong', 'unknown', answer(400, 'BadRequest', 'the object provided is unrecognized')],
  ['too many requests', 'unknown', answer(429, 'TooManyRequests', 'too many requests')],
  ['a namespace that is not there', 'unknown', answer(404, 'NotFound', 'namespaces "apps" not found')],
  ['a server that is down', 'unknown', new ApiUnreachable('POST', '/x', true, new Error('reset'))],
])('%s: %s', (_, state, error) => {
  expect(verdictOn(error).state).toBe(state);
});

it('has the words of the server, without what was asked', () => {
  expect(verdictOn(forbidden('no'))).toEqual({ state: 'refused', words: 'pods "db-0" is forbidden: no' });
});

it('is none on an error of our own', () => {
  expect(() => verdictOn(new TypeError('x'))).toThrow(TypeError);
});
