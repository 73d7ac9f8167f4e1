import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { difference, fingerprintAnnotation, fingerprinted } from '../../src/plan/difference.ts';
import type { FieldChange } from '../../src/plan/plan.ts';

const object = (spec: unknown, kind = 'Deployment'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'db' },
  spec,
});

type Row = readonly [story: string, wanted: unknown, has: unknown, changes: readonly FieldChange[]];

describe('the difference between what is wanted and what is there', () => {
  it.each<Row>([
    ['nothing', { a: 1, b: [1, { c: 'x' }] }, { a: 1, b: [1, { c: 'x' }] }, []],
    ['a leaf', { a: { b: 1 } }, { a: { b: 2 } }, [{ path: 'spec.a.b', from: 2, to: 1 }]],
    ['a field that is not there', { a: 1 }, {}, [{ path: 'spec.a', to: 1 }]],
    ['a map that is not there', { a: { b: 1 } }, {}, [{ path: 'spec.a', to: { b: 1 } }]],
    ['fields of others', { a: 1 }, { a: 1, b: 2 }, []],
    [
      'a selector with a label more, which selects less',
      { selector: { a: 'x' } },
      { selector: { a: 'x', 'b.c/d': 'y' } },
      [{ path: 'spec.selector[b.c/d]', from: 'y' }],
    ],
    [
      'a selector that asks for more in other words',
      { selector: { matchLabels: { a: 'x' } } },
      { selector: { matchLabels: { a: 'y', b: 'z' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] } },
      [
        { path: 'spec.selector.matchExpressions', from: [{ key: 'c', operator: 'Exists' }] },
        { path: 'spec.selector.matchLabels.b', from: 'z' },
        { path: 'spec.selector.matchLabels.a', from: 'y', to: 'x' },
      ],
    ],
    ['the same selector', { selector: { matchLabels: { a: 'x' } } }, { selector: { matchLabels: { a: 'x' } } }, []],
    [
      'a rule of a NetworkPolicy that somebody has widened',
      { podSelector: { matchLabels: { a: 'x' } }, ingress: [{ from: [{ podSelector: {} }] }] },
      { podSelector: { matchLabels: { a: 'x' } }, ingress: [{ from: [{ podSelector: {}, namespaceSelector: {} }] }] },
      [{ path: 'spec.ingress[0].from[0].namespaceSelector', from: {} }],
    ],
    [
      'a NetworkPolicy that somebody has made to select nothing',
      { podSelector: { matchLabels: { a: 'x' } }, ingress: [] },
      { podSelector: { matchLabels: { a: 'x', b: 'y' } } },
      [{ path: 'spec.podSelector.matchLabels.b', from: 'y' }],
    ],
    ['a selector that is not ours', { a: 1 }, { a: 1, selector: { b: 'y' } }, []],
    ['no selector at all', { selector: { a: 'x' } }, {}, [{ path: 'spec.selector', to: { a: 'x' } }]],
    ['what only ends like one', { nodeSelector: { a: 'x' } }, { nodeSelector: { a: 'x', b: 'y' } }, []],
    ['what the server drops because it is empty', { a: {}, b: [] }, {}, []],
    ['a value that becomes false', { a: false }, { a: true }, [{ path: 'spec.a', from: true, to: false }]],
    ['a key that is no word', { 'a.b/c': 1 }, { 'a.b/c': 2 }, [{ path: 'spec[a.b/c]', from: 2, to: 1 }]],
    ['another type', { a: [1] }, { a: { b: 1 } }, [{ path: 'spec.a', from: { b: 1 }, to: [1] }]],
    ['a list by position', { a: [1, 2] }, { a: [1, 3] }, [{ path: 'spec.a[1]', from: 3, to: 2 }]],
    ['a list that is not there', { a: [1] }, {}, [{ path: 'spec.a', to: [1] }]],
    ['a list that is to be empty', { a: [] }, { a: [1] }, [{ path: 'spec.a', from: [1], to: [] }]],
    ['an empty map where a list is', { a: {} }, { a: [] }, [{ path: 'spec.a', from: [], to: {} }]],
    ['nothing where something is', { a: null }, { a: 1 }, [{ path: 'spec.a', from: 1, to: null }]],
    ['a map where nothing is', { a: { b: 1 } }, { a: null }, [{ path: 'spec.a', from: null, to: { b: 1 } }]],
    [
      'a list of which some have names, by position',
      { a: [{ name: 'x', v: 1 }, { v: 1 }] },
      { a: [{ name: 'x', v: 1 }, { v: 2 }] },
      [{ path: 'spec.a[1].v', from: 2, to: 1 }],
    ],
    ['a list that is there with one more', { a: [1] }, { a: [1, 2] }, [{ path: 'spec.a', from: [1, 2], to: [1] }]],
    ['a list of another length', { a: [1, 2] }, { a: [1] }, [{ path: 'spec.a', from: [1], to: [1, 2] }]],
    [
      'a list by name, in another order and with one more',
      {
        a: [
          { name: 'x', v: 1 },
          { name: 'y', v: 2 },
        ],
      },
      { a: [{ name: 'z' }, { name: 'y', v: 3 }, { name: 'x', v: 1, w: 1 }] },
      [{ path: 'spec.a[y].v', from: 3, to: 2 }],
    ],
    ['a name that is not in the list', { a: [{ name: 'x' }] }, { a: [] }, [{ path: 'spec.a[x]', to: { name: 'x' } }]],
    [
      'two items of one name are told apart by position',
      {
        a: [
          { topologyKey: 'k', v: 1 },
          { topologyKey: 'k', v: 2 },
        ],
      },
      {
        a: [
          { topologyKey: 'k', v: 1 },
          { topologyKey: 'k', v: 3 },
        ],
      },
      [{ path: 'spec.a[1].v', from: 3, to: 2 }],
    ],
    [
      'amounts in other words',
      { resources: { requests: { cpu: '1', memory: '1024Mi' }, limits: { 'x.io/y': 1 } }, sizeLimit: '1Ki' },
      { resources: { requests: { cpu: '1000m', memory: '1Gi' }, limits: { 'x.io/y': '1' } }, sizeLimit: '1024' },
      [],
    ],
    [
      'other amounts',
      { limits: { memory: '1Gi' } },
      { limits: { memory: '1G' } },
      [{ path: 'spec.limits.memory', from: '1G', to: '1Gi' }],
    ],
    [
      'an amount that is not there',
      { limits: { memory: '1Gi' } },
      { limits: {} },
      [{ path: 'spec.limits.memory', to: '1Gi' }],
    ],
    ['text that only looks like an amount', { a: '1' }, { a: 1 }, [{ path: 'spec.a', from: 1, to: '1' }]],
  ])('%s', (_, wanted, has, changes) => {
    expect(difference(object(wanted), object(has))).toStrictEqual(changes);
  });

  it('leaves the claim templates of a StatefulSet alone: they cannot change', () => {
    const wanted = object({ replicas: 1, volumeClaimTemplates: [{ metadata: { name: 'data' } }] }, 'StatefulSet');
    expect(difference(wanted, object({ replicas: 1 }, 'StatefulSet'))).toEqual([]);
    expect(difference({ ...wanted, kind: 'Other' }, object({ replicas: 1 }))).not.toEqual([]);
  });

  const json = fc.jsonValue({ maxDepth: 4 });

  it('is none to an equal object', () => {
    fc.assert(
      fc.property(json, (spec) => {
        expect(difference(object(spec), object(structuredClone(spec)))).toEqual([]);
      }),
    );
  });

  it('names exactly the leaf that was changed', () => {
    const tree = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,3}$/),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.nat(), { minKeys: 1 }),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(tree, fc.nat(), fc.nat(), (spec, i, j) => {
        const outer = Object.keys(spec)[i % Object.keys(spec).length] ?? '';
        const inner = Object.keys(spec[outer] ?? {})[j % Object.keys(spec[outer] ?? {}).length] ?? '';
        const has = structuredClone(spec);
        (has[outer] as Record<string, number>)[inner] = -1;
        expect(difference(object(spec), object(has)).map(({ path }) => path)).toEqual([`spec.${outer}.${inner}`]);
      }),
    );
  });
});

describe('the fingerprint of what was applied', () => {
  const print = (wanted: KubeObject): string =>
    fingerprinted(wanted).metadata.annotations?.[fingerprintAnnotation] ?? '';

  it('shows that a field is no longer set', () => {
    const before = stored({ a: 1, b: 2 });
    expect(difference(fingerprinted(object({ a: 1 })), before)).toMatchObject([
      { path: `metadata.annotations[${fingerprintAnnotation}]` },
    ]);
  });

  it('is the same for the same wish, and for a StatefulSet whose claims were to grow', () => {
    const claims = (size: string) => object({ replicas: 1, volumeClaimTemplates: [{ size }] }, 'StatefulSet');
    expect(print(object({ a: 1 }))).toBe(print(object({ a: 1 })));
    expect(print(object({ a: 1 }))).toMatch(/^[0-9a-f]{16}$/);
    expect(print(object({ a: 1 }))).not.toBe(print(object({ a: 2 })));
    expect(print(claims('1Gi'))).toBe(print(claims('2Gi')));
  });

  it('keeps other annotations', () => {
    const annotated = { ...object({}), metadata: { name: 'db', annotations: { note: 'x' } } };
    expect(fingerprinted(annotated).metadata.annotations).toMatchObject({ note: 'x' });
  });

  function stored(spec: unknown): KubeObject {
    return fingerprinted(object(spec));
  }
});
