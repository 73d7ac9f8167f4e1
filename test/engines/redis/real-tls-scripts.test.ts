/**
 * TLS by the scripts of a pod, with a real server that they start. The operator is away: what the pod has mounted is all there is.
 */
import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { certificateDigest } from '../../../src/engines/redis/resources/certificates.ts';
import { type IsolatedPod, isIsolationPossible, isolatedPod } from '../../support/isolated-pod.ts';
import { madeBy, madeCa } from '../../support/issued-secrets.ts';
import { serverPrograms } from '../../support/redis-program.ts';

/** `admit` runs the startup probe until it succeeds. `secure` connects as a client does that has the CA in `ca.crt`. */
const prelude = `
trap 'kill -9 $(cat server.pid) 2> /dev/null' EXIT
start() {
  /bin/sh "$CONFIG_DIR/start-data.sh" > log 2>&1 & echo $! > server.pid
  tries=0
  until $SERVER-cli ping 2> /dev/null | grep -q .; do
    tries=$((tries + 1)); [ "$tries" -lt 1000 ] || { cat log >&2; exit 1; }
    sleep 0.02
  done
}
restart() { kill -9 "$(cat server.pid)"; wait 2> /dev/null; start; }
admit() {
  failed=0
  until /bin/sh "$CONFIG_DIR/admit.sh" > admitted 2>&1; do failed=$((failed + 1)); [ "$failed" -lt 20 ] || { cat admitted >&2; exit 1; }; done
  echo "admitted after $failed"
}
probe() { /bin/sh "$CONFIG_DIR/ping.sh" > probed 2>&1 || cat probed >&2; }
secure() { echo "TLS $(REDISCLI_AUTH=pw $SERVER-cli --tls --cacert mounted/ca.crt -p 6380 ping 2>&1 | sed 's/.*refused.*/refused/')"; }
read_files() { REDISCLI_AUTH=pw $SERVER-cli config get tls-cert-file | tail -n 1 | sed 's|.*/tls/||'; }
`;

const now = Date.now();
const [theirs, others] = [madeCa('theirs', now), madeCa('others', now)].map((ca) =>
  madeBy(ca, ['db-primary.apps.svc'], now - 3_600_000),
);

describe.skipIf(!isIsolationPossible).each([...serverPrograms])('beside servers of $name', (own) => {
  let pod: IsolatedPod;
  beforeEach(() => {
    pod = isolatedPod(own);
    pod.put('config/redis.conf', 'bind 127.0.0.1\nport 6379\nsave ""\nprotected-mode no\n');
    for (const [name, text] of Object.entries({
      quorum: '1\n',
      sentinels: '',
      'missed-ms': '1500\n',
      tls: '{}\n',
    })) {
      pod.put(`config/${name}`, text);
    }
    pod.put('data/initialised', '127.0.0.1\n');
    for (const folder of ['mounted', 'next']) mkdirSync(`${pod.directory}/${folder}`);
    const mounted = { mounted: theirs, next: others };
    for (const [folder, values] of Object.entries(mounted)) {
      for (const [name, text] of Object.entries(values ?? {})) pod.put(`${folder}/${name}`, text);
    }
  });
  afterEach(() => pod.remove());

  const play = (...story: readonly string[]): string[] =>
    pod.play([prelude, ...story].join('\n'), { TLS_DIR: `${pod.directory}/mounted` });
  const digest = certificateDigest(theirs ?? {});

  it('a node accepts TLS before it is admitted, also after its container has started again', () => {
    expect(
      play(
        'start; secure; admit; secure; read_files',
        'restart; secure; admit; secure',
        'stat -c %a run/tls/*/tls.key',
      ),
    ).toEqual([
      ...['TLS refused', 'admitted after 0', 'TLS PONG', `${digest}/tls.crt`],
      ...['TLS refused', 'admitted after 0', 'TLS PONG', '600'],
    ]);
  });

  it('one whose certificate no server takes is admitted without', () => {
    expect(play('cp next/tls.key mounted/tls.key', 'start; admit; secure')).toEqual([
      'admitted after 0',
      'TLS refused',
    ]);
  });

  it('one without a certificate is admitted, and so is one of a cluster without TLS', () => {
    expect(play('mv mounted away', 'start; admit; secure; ls run/tls 2> /dev/null')).toEqual([
      'admitted after 0',
      'TLS refused',
    ]);
    expect(play('rm config/tls', 'mv away mounted', 'start; admit; secure')).toEqual([
      'admitted after 0',
      'TLS refused',
    ]);
  });

  it('removes older copies, and one that was not finished, while the server has read none', () => {
    const next = certificateDigest(others ?? {});
    expect(
      play('rm config/tls', 'start; admit; probe; mkdir run/tls/new-1; cp next/* mounted/; probe; ls run/tls'),
    ).toEqual(['admitted after 0', next]);
  });

  it('tells which certificate the server can read, also after its container has started again', () => {
    const next = certificateDigest(others ?? {});
    const said = 'REDISCLI_AUTH=pw $SERVER-cli config get cluster-announce-ip | tail -n 1';
    const story = ['start; admit; probe', said, 'cp next/* mounted/; probe', said, 'restart; admit; probe', said];
    expect(play('rm config/tls', ...story)).toEqual([
      ...['admitted after 0', `certificate-${digest}`, `certificate-${next}`],
      ...['admitted after 0', `certificate-${next}`],
    ]);
  });

  it('keeps another copy where only the key has changed', () => {
    const mixed = certificateDigest({ ...theirs, 'tls.key': others?.['tls.key'] ?? '' });
    expect(mixed).not.toBe(digest);
    expect(play('start; admit; probe; cp next/tls.key mounted/; probe; ls run/tls | sort')).toEqual([
      'admitted after 0',
      ...[digest, mixed].sort(),
    ]);
  });

  it('keeps what the server has read and what is mounted, and shows nothing else before it is told', () => {
    const renew = 'cp next/* mounted/';
    const next = certificateDigest(others ?? {});
    const story = ['start; admit; probe; ls run/tls', `${renew}; probe; ls run/tls | sort; read_files`];
    const told = `at=$PWD/run/tls/${next}; REDISCLI_AUTH=pw $SERVER-cli config set tls-cert-file $at/tls.crt tls-key-file $at/tls.key tls-ca-cert-file $at/ca.crt`;
    expect(play(...story, `${told}; secure; probe; ls run/tls`)).toEqual([
      'admitted after 0',
      digest,
      ...[digest, next].sort(),
      `${digest}/tls.crt`,
      'OK',
      'TLS PONG',
      next,
    ]);
  });
});
