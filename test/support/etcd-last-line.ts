/** The line with which etcd 3.5.35 and 3.6.16 end where they cannot start, but for its stack. */
export function discoveryFailed(error: string): string {
  const at = { ts: '2026-11-23T03:53:34.051387Z', caller: 'etcdmain/etcd.go:204' };
  return JSON.stringify({ level: 'fatal', ...at, msg: 'discovery failed', error });
}
