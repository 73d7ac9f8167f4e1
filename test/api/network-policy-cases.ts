/** What every kind says in the same way about its NetworkPolicy. */
import type { Case, Json } from './case.ts';

const cased = (spec: Json): { story: string; spec: Json } => ({ story: JSON.stringify(spec).slice(0, 130), spec });
const web: Json = { matchLabels: { app: 'web' } };
const peers = (count: number): Json[] => Array.from({ length: count }, () => ({ all: 'Namespace' }));
const range = (count: number): string[] => Array.from({ length: count }, (_, i) => `10.1.${i}.0/24`);
const labels = (count: number): Json => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, 'x']));

/** `at`: the path of the list. */
function expressionCases(of: (list: readonly Json[]) => Json, at: string): readonly Case[] {
  const values = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i}`);
  const one = { key: 'example.com/team', operator: 'In', values: values(8) };
  const accepted = (...list: Json[]): Case => cased(of(list));
  const refusal = (fields: Json, field: string): Case => ({
    ...cased(of([{ ...one, ...fields }])),
    refused: `${at}[0]${field}`,
  });
  return [
    accepted(one, one),
    accepted({ key: 'team', operator: 'NotIn', values: [''] }),
    ...['Exists', 'DoesNotExist'].flatMap((operator) => [
      accepted({ key: 'team', operator }),
      accepted({ key: 'team', operator, values: [] }),
      refusal({ operator }, '.values'),
    ]),
    { ...accepted(), refused: at },
    { ...accepted(one, one, one), refused: at },
    ...['In', 'NotIn'].map((operator) => refusal({ operator, values: [] }, '.values')),
    { ...accepted({ key: 'team', operator: 'In' }), refused: `${at}[0].values` },
    { ...accepted({ key: 'team', values: ['a'] }), refused: `${at}[0].operator` },
    { ...accepted({ operator: 'Exists' }), refused: `${at}[0].key` },
    refusal({ operator: 'Gt' }, '.operator'),
    refusal({ key: 'a b' }, '.key'),
    refusal({ key: `${'a'.repeat(253)}/${'b'.repeat(64)}` }, '.key'),
    refusal({ values: values(9) }, '.values'),
    refusal({ values: ['a b'] }, '.values[0]'),
    refusal({ values: ['x'.repeat(64)] }, '.values[0]'),
  ];
}

/** Of one of the two lists. */
function listCases(list: 'clients' | 'metrics', most: number): readonly Case[] {
  const of = (...those: Json[]): Json => ({ networkPolicy: { [list]: those } });
  const accepted = (peer: Json): Case => cased(of(peer));
  const refusal = (peer: Json, at = ''): Case => ({
    ...cased(of(peer)),
    refused: `spec.networkPolicy.${list}[0]${at}`,
  });
  const block = (fields: Json): Json => ({ ipBlock: fields });
  return [
    cased(of(...peers(most))),
    { ...cased(of(...peers(most + 1))), refused: `spec.networkPolicy.${list}` },
    refusal({}),
    accepted({ all: 'AllNamespaces' }),
    refusal({ all: 'Everybody' }, '.all'),
    ...['podSelector', 'namespaceSelector'].flatMap((selector) => [
      refusal({ ...block({ cidr: '10.0.0.0/8' }), [selector]: web }),
      refusal({ all: 'Namespace', [selector]: web }),
    ]),
    refusal({ ...block({ cidr: '10.0.0.0/8' }), all: 'Namespace' }),
    ...['podSelector', 'namespaceSelector'].flatMap((selector) => {
      const labelled = (matchLabels: Json): Json => ({ [selector]: { matchLabels } });
      const at = `.${selector}.matchLabels`;
      return [
        accepted({ [selector]: web }),
        // What the API server leaves of a misspelt field, and of a label without a value in a merge patch.
        refusal({ [selector]: {} }, `.${selector}`),
        refusal(labelled({}), `.${selector}`),
        {
          ...refusal({ [selector]: { matchExpresions: [{ key: 'team', operator: 'Exists' }] } }, `.${selector}`),
          prunes: true as const,
        },
        ...expressionCases(
          (matchExpressions) => of({ [selector]: { matchExpressions } }),
          `spec.networkPolicy.${list}[0].${selector}.matchExpressions`,
        ),
        accepted(labelled({ 'example.com/app': 'web', app: '' })),
        accepted(labelled(labels(4))),
        refusal(labelled(labels(5)), at),
        refusal(labelled({ 'a b': 'x' }), at),
        // As a chart leaves it that was given no value: without the label, the selector means more.
        refusal(labelled({ app: null }), at),
        refusal(labelled({ app: null, 'example.com/app': 'web' }), at),
        refusal(labelled({ app: 'a b' }), `${at}.app`),
        refusal(labelled({ app: 'x'.repeat(64) }), `${at}.app`),
      ];
    }),
    accepted({ namespaceSelector: { matchLabels: { team: 'shop' } }, podSelector: web }),
    accepted(block({ cidr: '10.0.0.0/8', except: range(8) })),
    accepted(block({ cidr: '::/0' })),
    refusal(block({}), '.ipBlock.cidr'),
    accepted(block({ cidr: 'fd00:10::/48' })),
    refusal(block({ cidr: '10.0.0.1' }), '.ipBlock.cidr'),
    refusal(block({ cidr: '300.0.0.0/8' }), '.ipBlock.cidr'),
    refusal(block({ cidr: '010.0.0.0/8' }), '.ipBlock.cidr'),
    refusal(block({ cidr: '10.0.0.0/33' }), '.ipBlock.cidr'),
    refusal(block({ cidr: '::/129' }), '.ipBlock.cidr'),
    refusal(block({ cidr: `${'1'.repeat(42)}/8` }), '.ipBlock.cidr'),
    refusal(block({ cidr: '10.0.0.0/8', except: range(9) }), '.ipBlock.except'),
    refusal(block({ cidr: '10.0.0.0/8', except: ['x'] }), '.ipBlock.except[0]'),
    refusal(block({ cidr: '10.0.0.0/8', except: [`${'1'.repeat(42)}/8`] }), '.ipBlock.except[0]'),
    refusal(block({ cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.1.0.0/16'] }), '.ipBlock.except[1]'),
  ];
}

export const networkPolicyCases: readonly Case[] = [
  cased({ networkPolicy: {} }),
  cased({ networkPolicy: { clients: [], metrics: [] } }),
  ...listCases('clients', 16),
  ...listCases('metrics', 4),
];
