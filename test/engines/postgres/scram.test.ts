/** SCRAM as its RFC shows it, and servers that do not keep to it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scramExchange } from '../../../src/engines/postgres/client/scram.ts';
import { isVerifierOf, requireStable, scramVerifier } from '../../../src/engines/postgres/client/scram-verifier.ts';

/** RFC 7677, section 3; the name of the user is not part of PostgreSQL's messages. */
const nonce = 'rOprNGfwEbeRWgbNEkqO';
const challenge = `r=${nonce}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`;

describe('the exchange', () => {
  it('proves the password, and wants the same of the server', async () => {
    const exchange = scramExchange('pencil', nonce);
    expect(exchange.first).toBe(`n,,n=,r=${nonce}`);
    const { message, verify } = await exchange.answer(challenge);
    expect(message).toMatch(/^c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj\)hNlF\$k0,p=[A-Za-z0-9+/]{43}=$/);
    expect(() => verify('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=')).toThrow(/does not prove/);
  });

  it.each([
    ['another nonce', challenge.replace(nonce, 'somebody-elses-nonce'), /answer to somebody else/],
    ['our own nonce and nothing more', `r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`, /answer to somebody else/],
    ['one iteration', challenge.replace('4096', '1'), /asks for 1 iterations/],
    ['so many that it takes an hour', challenge.replace('4096', '2147483647'), /asks for 2147483647 iterations/],
    ['an extension that must be understood', `m=x,${challenge}`, /is no SCRAM/],
    ['no salt', challenge.replace(/s=[^,]*/, 's='), /is no SCRAM/],
    ['nothing', '', /is no SCRAM/],
    ['an error', 'e=unknown-user', /is no SCRAM/],
  ])('refuses %s', async (_, text, words) => {
    await expect(scramExchange('pencil', nonce).answer(text)).rejects.toThrow(words);
  });

  it.each([['v='], ['v=AAAA'], [''], ['e=other-error'], [`v=${Buffer.alloc(32).toString('base64')}`]])(
    'refuses the signature %s',
    async (text) => {
      const { verify } = await scramExchange('pencil', nonce).answer(challenge);
      expect(() => verify(text)).toThrow(/does not prove/);
    },
  );

  it('refuses any other text, and crashes at none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        await expect(scramExchange('pencil', nonce).answer(text)).rejects.toThrow(/SCRAM|somebody else|iterations/);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a verifier', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');

  it('is the same for the same password and salt', async () => {
    const verifier = await scramVerifier('pencil', salt);
    expect(verifier).toBe(
      'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
    );
    expect(await isVerifierOf(verifier, 'pencil')).toBe(true);
    expect(await isVerifierOf(verifier, 'Pencil')).toBe(false);
    expect(await isVerifierOf('md5a3556571e93b0d20722ba62be61e8c2d', 'pencil')).toBe(false);
  });

  it.each(['pencil', 'pässwörd', 'пароль', '密码', 'a b,c=d\\e"f\'g', '🔑'])('is made of %s', (password) => {
    expect(() => requireStable(password)).not.toThrow();
  });

  it.each([
    ['nothing', ''],
    ['a NUL', 'a\0b'],
    ['a space that does not break', 'a\u00a0b'],
    ['a soft hyphen', 'a\u00adb'],
    ['a letter and its accent apart', 'e\u0301'],
    ['a ligature', 'ﬁ'],
    ['half a character', '\ud83d'],
  ])('is not made of %s', async (_, password) => {
    await expect(scramVerifier(password, salt)).rejects.toThrow(/the password/);
  });
});
