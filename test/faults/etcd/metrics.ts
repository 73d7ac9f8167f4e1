/** The metrics of a member on its own port, as far as somebody asks for them: in clear, and for everybody. */
import type { Duplex } from 'node:stream';
import type { Member } from './member.ts';

/** Undefined as long as the process does not serve; nothing is said while it stands still. */
export function serveMetrics(stream: Duplex, member: () => Member | undefined): void {
  let received = '';
  stream.on('error', () => stream.destroy());
  stream.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    if (!received.includes('\r\n\r\n')) return;
    const asked = member();
    if (asked?.isFrozen === true) return;
    if (asked?.servesPeers !== true || !received.startsWith('GET /metrics ')) stream.destroy();
    else stream.end(`HTTP/1.1 200 -\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${textOf(asked)}`);
  });
}

function textOf({ id, state, own }: Member): string {
  return [
    '# HELP etcd_server_is_learner Whether or not this member is a learner. 1 if is, 0 otherwise.',
    `etcd_server_id{server_id="${BigInt(id).toString(16)}"} 1`,
    `etcd_server_is_learner ${own?.isLearner === true ? 1 : 0}`,
    `etcd_server_proposals_applied_total ${state.applied}`,
    `etcd_debugging_mvcc_current_revision ${state.revision}`,
    '',
  ].join('\n');
}
