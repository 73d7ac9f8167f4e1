/**
 * What the API server said of pods in dry runs, and the same said again: the operator remembers an answer for a while, so
 * a plan that is made again rests on what it had been told by then.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../src/api/object.ts';
import { apiErrorOf } from '../../../src/runtime/api-error.ts';
import type { Transport, TransportResponse } from '../../../src/runtime/transport.ts';
import { targetOf } from '../wire/request.ts';

/** By namespace and name, the last pod that was asked about, and what was answered. */
export type JudgedPods = Map<string, { readonly pod: KubeObject; readonly answer: TransportResponse<string> }>;

const keyOf = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;

/** The same transport. `heard` learns of every answer to a dry run. */
export function withDryRuns(transport: Transport, heard: (note: (judged: JudgedPods) => void) => void): Transport {
  return {
    stream: (request) => transport.stream(request),
    close: () => transport.close(),
    async request(request) {
      const { method, path, query, body = '{}' } = request;
      const answer = await transport.request(request);
      if (method === 'POST' && query?.dryRun === 'All' && targetOf(path).resource === 'pods') {
        const pod = JSON.parse(body) as KubeObject;
        heard((judged) => judged.set(keyOf(pod), { pod, answer }));
      }
      return answer;
    },
  };
}

/**
 * Throws what was answered about this very pod. Where there was no clear answer it was not held up for ever, and a plan that
 * goes on says more than what was done, never less.
 */
export function judgedAgain(judged: JudgedPods, pod: KubeObject): KubeObject {
  const found = judged.get(keyOf(pod));
  const { answer } = found ?? {};
  if (answer === undefined || !isDeepStrictEqual(found?.pod, JSON.parse(JSON.stringify(pod)))) return pod;
  if (answer.status !== 403 && answer.status !== 422) return pod;
  throw apiErrorOf({ method: 'POST', path: 'pods' }, answer, 0);
}
