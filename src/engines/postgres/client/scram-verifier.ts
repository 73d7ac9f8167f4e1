/**
 * What a server keeps of a password: with it, it recognizes who knows the password, and nobody can log in with it. The
 * operator sets this, so that no password is in a statement, and none in the log of a server.
 */
import { scramIterations, scramKeys, scramMechanism } from './scram.ts';

/** As many bytes as PostgreSQL takes. */
export const saltBytes = 16;

/** Clients may each write such a password in another way. */
export class UnstablePassword extends Error {
  override readonly name = 'UnstablePassword';
}

/**
 * `SCRAM-SHA-256$4096:SALT$STORED:SERVER`. The same password and salt always give the same text.
 *
 * @param salt 16 random bytes
 * @throws UnstablePassword
 */
export async function scramVerifier(password: string, salt: Buffer): Promise<string> {
  requireStable(password);
  const { storedKey, serverKey } = await scramKeys(password, salt, scramIterations);
  const parts = [salt, storedKey, serverKey].map((bytes) => bytes.toString('base64'));
  return `${scramMechanism}$${scramIterations}:${parts[0]}$${parts[1]}:${parts[2]}`;
}

/** Whether the verifier is of this password; false for what is no verifier. */
export async function isVerifierOf(verifier: string, password: string): Promise<boolean> {
  const [, salt] = /^SCRAM-SHA-256\$4096:([A-Za-z0-9+/]+={0,2})\$/.exec(verifier) ?? [];
  return salt !== undefined && (await scramVerifier(password, Buffer.from(salt, 'base64'))) === verifier;
}

/** Spaces and joiners that SASLprep (RFC 4013) replaces or removes, and that NFKC leaves as they are. */
const rewritten =
  /\u00A0|\u00AD|\u034F|\u1680|\u1806|[\u180B-\u180D\u2000-\u200D]|\u202F|\u205F|\u2060|\u3000|[\uFE00-\uFE0F]|\uFEFF/;

/**
 * Clients prepare a password with SASLprep before they use it, and where that refuses it, they use it as it is. A password
 * that SASLprep does not change is the same for all of them. Any other is refused: whether it is changed depends on the
 * version of Unicode that a client was made with.
 */
export function requireStable(password: string): void {
  if (password === '') throw new UnstablePassword('the password is empty');
  if (password.includes('\0')) throw new UnstablePassword('the password contains a NUL');
  // A lone surrogate has no form in UTF-8.
  const isText = Buffer.from(password).toString('utf8') === password;
  if (isText && password.normalize('NFKC') === password && !rewritten.test(password)) return;
  throw new UnstablePassword('the password has characters that clients write in different ways: use its NFKC form');
}
