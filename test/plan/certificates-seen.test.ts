import { describe, expect, it } from 'vitest';
import type { Values } from '../../src/certificates/facts.ts';
import { readAuthority, readCopy } from '../../src/plan/certificates-seen.ts';
import { madeBy, madeCa } from '../support/issued-secrets.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
const ca = madeCa('db', now);
const wanted = {
  secret: 'ca',
  leaves: [{ secret: 'shown', names: [], organisation: 'db', usages: ['server'] as const }],
};
const authority: Values = { 'tls.crt': ca.certificate, 'tls.key': ca.key };
const shown = madeBy(ca, ['db.apps.svc'], now);
const read = (secrets: Readonly<Record<string, Values>>) => readAuthority(wanted, async (name) => secrets[name]);

describe('the certificates in Secrets', () => {
  it('are parsed once for each reading of the Secrets', async () => {
    const first = await read({ ca: authority, shown });
    const again = await read({ ca: authority, shown });
    expect(first.leaves.shown?.facts?.isCurrent).toBe(true);
    expect(again.authority).toBe(first.authority);
    expect(again.leaves.shown).toBe(first.leaves.shown);
    expect(readCopy(shown, authority)).toBe(readCopy(shown, authority));
  });

  it('are parsed again where one of the Secrets was read again', async () => {
    await read({ ca: authority, shown });
    const other = madeCa('other', now);
    const replaced = await read({ ca: { 'tls.crt': other.certificate, 'tls.key': other.key }, shown });
    expect(replaced.leaves.shown?.facts?.isCurrent).toBe(false);
    const renewed = await read({ ca: authority, shown: madeBy(ca, ['new.apps.svc'], now) });
    expect(renewed.leaves.shown?.facts?.certificate.names).toEqual(['new.apps.svc']);
  });

  it('are told of though one of the two Secrets is gone', async () => {
    expect((await read({ shown })).leaves.shown?.facts?.isCurrent).toBe(false);
    expect((await read({ ca: authority })).leaves.shown?.facts).toBeUndefined();
    expect((await read({})).authority).toEqual({ digest: '' });
  });
});
