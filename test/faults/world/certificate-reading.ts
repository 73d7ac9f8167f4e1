/**
 * Each reconcile reads the same certificates and keys again, which takes a third of a run. Here each is read once. Neither changes
 * after it has been read.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Of several runs: each has some of its own. */
const most = 500;
let isOnce = false;

export function readCertificatesOnce(): void {
  if (isOnce) return;
  isOnce = true;
  const { X509Certificate, createPrivateKey } = crypto;
  const read = remembering((text: string) => new X509Certificate(text));
  const readKey = remembering((text: string) => createPrivateKey(text));
  function Certificate(given: unknown): unknown {
    return typeof given === 'string' ? read(given) : new X509Certificate(given as Buffer);
  }
  const key = (given: Parameters<typeof createPrivateKey>[0]) =>
    typeof given === 'string' ? readKey(given) : createPrivateKey(given);
  Object.assign(crypto, { X509Certificate: Certificate, createPrivateKey: key });
  syncBuiltinESMExports();
}

function remembering<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text) ?? read(text);
    if (known.size >= most) known.clear();
    known.set(text, found);
    return found;
  };
}
