/** Defects of the controller runtime: caches, watches, leases, retries. */
import type { Mutant } from './mutant.ts';

export const runtimeMutants: readonly Mutant[] = [
  {
    id: 'template-not-judged',
    defect: 'a pod restarts for a template of which the API server makes none',
    seen: 'this operator, before it asked for dry runs',
    edits: [
      {
        file: 'runtime/dead-ends.ts',
        find: '[...secrets, ...obstacles]',
        replace: 'secrets',
      },
    ],
    scenarios: ['S14 class', 'etcd S14 class'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'delete-by-name',
    defect: 'deletes name no UID: another object of the name dies',
    seen: 'instaclustr-cassandra #402, zookeeper #312, casskop #316, cass-operator #412, rabbitmq #648',
    edits: [{ file: 'runtime/client.ts', find: 'preconditions: { uid: ref.uid },', replace: '' }],
    scenarios: ['S4'],
    classes: ['F1'],
    oracle: 'O4',
  },
  {
    id: 'no-relist-after-410',
    defect: 'resumes from a version that the server has forgotten, for ever',
    seen: '@kubernetes/client-node #364, #596',
    edits: [
      {
        file: 'runtime/reflector.ts',
        find: "if (end.cause === 'expired' || end.cause === 'mute' || end.cause === 'not-served') version = undefined;",
        replace: '',
      },
    ],
    scenarios: ['S2'],
    classes: ['F7', 'F9', 'F13'],
    oracle: 'O1',
  },
  {
    id: 'deaf-to-silence',
    defect: 'a watch on a dead connection is never noticed',
    seen: '@kubernetes/client-node #958, #596',
    edits: [
      {
        file: 'runtime/watchdog.ts',
        find: 'cancel = clock.after(limit, () => onSilence(new WatchSilent(limit, initial)));',
        replace: 'void limit; void onSilence; void clock;',
      },
    ],
    scenarios: ['S2', 'S4'],
    classes: ['F12'],
    oracle: 'O1',
  },
  {
    id: 'write-after-lease',
    defect: 'a process that has lost its lease goes on writing',
    seen: 'cluster-etcd-operator #457 and its kind',
    edits: [
      {
        file: 'runtime/fence.ts',
        find: 'if (!mayWrite()) throw new WriteFenced(request.method, request.path);',
        replace: '',
      },
    ],
    scenarios: ['S3', 'S4', 'S2'],
    classes: ['F14'],
    oracle: 'O10',
  },
  {
    id: 'failed-pass-forgotten',
    defect: 'a pass that failed is not repeated',
    seen: 'cluster-etcd-operator #457',
    edits: [
      {
        file: 'runtime/controller.ts',
        find: "queue.retry(key, queue.retries(key) < urgentTries ? undefined : 'recheck');",
        replace: '',
      },
    ],
    scenarios: ['S1', 'S2'],
    classes: ['F3', 'F4', 'F6'],
    oracle: 'O1',
  },
  {
    id: 'exists-is-fatal',
    defect: 'what an unheard write of its own has made is taken for somebody else’s',
    seen: 'nifikop #49 and its kind',
    edits: [
      {
        file: 'runtime/executor.ts',
        find: 'if (whose !== undefined) throw new NameConflict(whose, { cause });\n    cache.observeRead(live);',
        replace:
          'throw new NameConflict([object.kind, object.metadata.name, "exists and belongs to you"].join(" "), { cause });',
      },
    ],
    scenarios: ['S1'],
    classes: ['F8', 'F10', 'F3'],
    oracle: 'O8',
  },
  {
    id: 'impatient',
    defect: 'a server that asks for time does not get it',
    seen: '@kubernetes/client-node #1933',
    edits: [
      {
        file: 'runtime/retry.ts',
        find: 'return asked > MAX_WAIT_MS ? undefined : asked + random() * Math.min(asked, 1000);',
        replace: 'return backoff;',
      },
    ],
    scenarios: ['S1'],
    classes: ['F5'],
    oracle: 'O9',
  },
  {
    id: 'error-with-body',
    defect: 'an error shows the request that failed, password and all',
    seen: 'CVE-2024-31391 and its kind',
    edits: [
      {
        file: 'runtime/executor.ts',
        find: 'if (!isAlreadyExists(error)) throw error;',
        replace: 'if (!isAlreadyExists(error)) throw new Error(JSON.stringify(filled), { cause: error });',
      },
    ],
    scenarios: ['S1'],
    classes: ['F3', 'F4'],
    oracle: 'O11',
  },
  {
    id: 'watches-secrets',
    defect: 'watches all Secrets to read one',
    seen: 'Strimzi 24b8297d44 and its kind',
    edits: [
      {
        file: 'api/child-resources.ts',
        find: '  cronJobs,\n  certificates,\n];',
        replace:
          "  cronJobs,\n  certificates,\n  { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },\n];",
      },
    ],
    scenarios: ['S1'],
    classes: ['F1'],
    oracle: 'O12',
  },
  {
    id: 'status-every-pass',
    defect: 'writes its status on every pass, changed or not',
    seen: 'etcd-io etcd-operator',
    edits: [
      { file: 'runtime/status-writer.ts', find: 'if (isDeepStrictEqual(before, after)) return 0;', replace: '' },
      {
        file: 'runtime/status-writer.ts',
        find: 'if (waitsFor > 0) return Math.ceil(waitsFor);',
        replace: '',
      },
    ],
    scenarios: ['S1', 'S4'],
    classes: ['F2'],
    oracle: 'O9',
  },
  {
    id: 'unwatched-promise',
    defect: 'an error of a background task reaches nobody',
    edits: [
      {
        file: 'runtime/controller.ts',
        find: 'if (!signal.aborted) {',
        replace: 'void Promise.reject(error);\n      if (!signal.aborted) {',
      },
    ],
    scenarios: ['S1'],
    classes: ['F3', 'F4'],
    oracle: 'O7',
  },
  {
    id: 'phase-of-its-own',
    defect: 'while a step fails the phase stays Ready, and the condition Ready is False',
    edits: [{ file: 'runtime/pass-status.ts', find: "case 'Ready': {", replace: "case 'Paused': {" }],
    plans: ['W20-service-denied'],
    scenarios: [],
    classes: [],
    oracle: 'O8',
  },
];
