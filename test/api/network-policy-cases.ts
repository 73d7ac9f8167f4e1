/** What every kind says in the same way about its NetworkPolicy. */
import type { Case, Json } from './case.ts';

const cased = (spec: Json): { story: string; spec: Json } => ({ story: JSON.stringify(spec).slice(0, 130), spec });
const peers = (count: number): Json[] => Array.from({ length: count }, () => ({ podSelector: {} }));
const range = (count: number): string[] => Array.from({ length: count }, (_, i) => `10.1.${i}.0/24`);
const labels = (count: number): Json => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, 'x']));

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
    refusal({ ...block({ cidr: '10.0.0.0/8' }), podSelector: {} }),
    refusal({ ...block({ cidr: '10.0.0.0/8' }), namespaceSelector: {} }),
    ...['podSelector', 'namespaceSelector'].flatMap((selector) => {
      const labelled = (matchLabels: Json): Json => ({ [selector]: { matchLabels } });
      const at = `.${selector}.matchLabels`;
      return [
        accepted({ [selector]: {} }),
        accepted(labelled({ 'example.com/app': 'web', app: '' })),
        accepted(labelled(labels(4))),
        refusal(labelled(labels(5)), at),
        refusal(labelled({ 'a b': 'x' }), at),
        refusal(labelled({ app: 'a b' }), `${at}.app`),
        refusal(labelled({ app: 'x'.repeat(64) }), `${at}.app`),
      ];
    }),
    accepted({ namespaceSelector: { matchLabels: { team: 'shop' } }, podSelector: {} }),
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
