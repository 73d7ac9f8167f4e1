/** Each oracle of the real layer is silent about a good run, and speaks when its promise is broken. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/api/object.ts';
import type { ForesightLine } from '../foresight/live.ts';
import type { Happening } from './chronicle.ts';
import { agreed, endStateOf } from './end-state.ts';
import type { Evidence, Reference } from './evidence.ts';
import { countsOf, judge } from './oracles.ts';
import type { Answered } from './witness.ts';

const base = '/api/v1/namespaces/a';

function write(fields: Partial<Answered>): Answered {
  const sentAt = fields.sentAt ?? 1_000;
  return {
    life: 1,
    sentAt,
    at: sentAt + 5,
    method: 'PATCH',
    path: `${base}/services/r`,
    query: {},
    body: '{}',
    status: 200,
    ...fields,
  };
}

function pod(name: string, ready: boolean): KubeObject {
  const status = { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, uid: name }, spec: { image: 'x' }, status };
}

function happened(at: number, type: Happening['type'], object: KubeObject): Happening {
  return { at, type, resource: 'pods', object };
}

const cluster: KubeObject = {
  apiVersion: 'clusterwright.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'r' },
  status: {
    primary: 'r-0',
    readyReplicas: 1,
    members: [{ name: 'r-0', role: 'primary', ready: true, address: '10.0.0.1' }],
  },
};

function foreseen(plannedFrom: ForesightLine['plannedFrom']): ForesightLine {
  return {
    cluster: 'RedisCluster/r',
    generation: 1,
    pass: 1,
    what: 'PATCH services/r',
    plannedFrom,
    words: 'update Service r',
  };
}

const state = endStateOf([cluster, pod('r-0', true)]);

const good: Evidence = {
  plan: { scenario: 'S9', seed: 0, class: 'F1', faults: [] },
  unhappened: [],
  complaints: [],
  restless: [],
  writes: [write({}), write({ method: 'DELETE', path: `${base}/pods/r-0`, body: '{"preconditions":{"uid":"1"}}' })],
  forbidden: [],
  deposed: undefined,
  lives: [{ id: 1, startedAt: 0, end: 'stopped' }],
  foresight: [foreseen('there')],
  happenings: [happened(1_100, 'DELETED', pod('r-0', true)), happened(1_200, 'ADDED', pod('r-0', true))],
  deletionPolicy: 'Retain',
  state,
  cluster,
  primary: 'r-0',
  ledger: { acknowledged: 10, lost: [] },
  guard: { sweeps: 20, mostEndpoints: 1, mostLabelled: 1, violations: [] },
  secrets: ['hunter2'],
  texts: { 'the log': '{"message":"started"}' },
  durationMs: 1,
};

const reference: Reference = {
  writes: 2,
  fewestWrites: 2,
  ...agreed(state, state),
  counts: countsOf(good),
  uncounted: [],
};

const deleted = (path: string, body: object): Answered =>
  write({ method: 'DELETE', path: `${base}/${path}`, body: JSON.stringify(body) });
const owned = { preconditions: { uid: '1' } };

const broken: readonly (readonly [oracle: string, what: string, run: Partial<Evidence>])[] = [
  ['O1', 'a scenario that does not end', { complaints: ['r-1 is silent'] }],
  ['O1', 'an operator that is never quiet', { restless: ['PATCH services/r'] }],
  ['O2', 'a field that differs', { state: { ...state, 'Pod/r-N#0.spec.image': '"y"' } }],
  ['O2', 'an object that is left', { state: { ...state, 'Service/old.spec': '{}' } }],
  ['O3', 'a pod made twice', { happenings: [...good.happenings, happened(1_300, 'ADDED', pod('r-1', true))] }],
  ['O4', 'a delete by name', { writes: [deleted('services/r', {})] }],
  ['O4', 'a claim deleted under Retain', { writes: [deleted('persistentvolumeclaims/data-r-0', owned)] }],
  ['O4', 'a replacement without a version', { writes: [write({ method: 'PUT', body: '{"metadata":{}}' })] }],
  [
    'O4',
    'a second member disrupted',
    { happenings: [happened(-5_000, 'MODIFIED', pod('r-1', false)), ...good.happenings] },
  ],
  ['O5', 'a lost write', { ledger: { acknowledged: 10, lost: ['k'] } }],
  [
    'O6',
    'two primaries that take writes',
    { guard: { sweeps: 9, mostEndpoints: 2, mostLabelled: 1, violations: ['two'] } },
  ],
  ['O6', 'two labelled primaries', { guard: { sweeps: 9, mostEndpoints: 1, mostLabelled: 2, violations: [] } }],
  ['O7', 'a process that ends by itself', { lives: [{ id: 1, startedAt: 0, end: 'failed', error: 'exit code 1' }] }],
  ['O7', 'a rejection that nobody handles', { texts: { 'the log': 'a rejection was not handled' } }],
  ['O8', 'a status that names another primary', { primary: 'r-1' }],
  [
    'O8',
    'a status with an old address',
    {
      happenings: [
        ...good.happenings.slice(0, 1),
        happened(1_200, 'ADDED', { ...pod('r-0', true), status: { podIP: '10.0.0.9' } }),
      ],
    },
  ],
  ['O9', 'many writes', { writes: Array.from({ length: 12 }, () => write({})) }],
  ['O10', 'two writers', { writes: [write({ life: 1 }), write({ life: 2 }), write({ life: 1 })] }],
  [
    'O10',
    'a write long after the lease was lost',
    { deposed: { life: 1, at: 1_000 }, writes: [write({ sentAt: 12_000 })] },
  ],
  ['O11', 'a password in the log', { texts: { 'the log': 'AUTH hunter2' } }],
  ['O12', 'a request that is not permitted', { forbidden: ['GET /api/v1/nodes'] }],
  ['O13', 'a write that no plan had shown', { foresight: [foreseen('seen'), foreseen('none')] }],
  ['O13', 'an operator that nobody looked at', { foresight: [] }],
];

describe('an oracle', () => {
  it('says nothing about a good run', () => {
    expect(judge(good, reference)).toEqual([]);
  });

  it.each(broken)('%s speaks about %s', (oracle, _what, run) => {
    const violations = judge({ ...good, ...run }, reference);
    expect(violations.map((violation) => violation.oracle)).toEqual([oracle]);
  });

  it('is silent about what the plan says may differ', () => {
    const plan = { ...good.plan, mayDiffer: [{ oracle: 'O5', why: 'no replica was left' }] };
    expect(judge({ ...good, plan, ledger: { acknowledged: 1, lost: ['k'] } }, reference)).toEqual([]);
  });
});

describe('the end state', () => {
  it('knows no identities, times and ordinals of pods, and everything else', () => {
    const other = { ...pod('r-2', true), metadata: { name: 'r-2', uid: 'other', resourceVersion: '9' } };
    expect(endStateOf([other])).toEqual(endStateOf([pod('r-0', true)]));
    expect(endStateOf([{ ...other, spec: { image: 'y' } }])).not.toEqual(endStateOf([pod('r-0', true)]));
    expect(endStateOf([other, pod('r-0', true)])).not.toEqual(endStateOf([other]));
  });

  it('does not know what the harness has left on an object', () => {
    const touched = { ...cluster, metadata: { name: 'r', annotations: { 'example.com/touched': '1' } } };
    expect(endStateOf([touched])).toEqual(endStateOf([cluster]));
    const kept = { ...cluster, metadata: { name: 'r', annotations: { 'example.com/kept': '1' } } };
    expect(endStateOf([kept])).not.toEqual(endStateOf([cluster]));
  });

  it('is compared where undisturbed runs agree, and nowhere else', () => {
    const { state: common, masked } = agreed({ a: '1', b: '2' }, { a: '1', b: '3', c: '4' });
    expect(common).toEqual({ a: '1' });
    expect(masked.toSorted()).toEqual(['b', 'c']);
  });
});
