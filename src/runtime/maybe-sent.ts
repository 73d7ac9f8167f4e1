/** Whether a request that failed may have reached the server: only then must a write not be repeated. */

/** Codes of a TLS handshake or a connection that never came about. */
const handshakeCodes =
  /^(CERT_|ERR_TLS_|ERR_SSL_|ERR_PROXY_REFUSAL$|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|UND_ERR_CONNECT_TIMEOUT$)/;

/** False only where it is certain that nothing was sent. Of several attempts, one that may have been is enough. */
export function maybeSent(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof AggregateError) return error.errors.some(maybeSent);
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (syscall === 'connect' || syscall === 'getaddrinfo') return false;
  return !(typeof code === 'string' && handshakeCodes.test(code));
}
