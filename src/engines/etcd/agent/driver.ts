/** etcd, as the agent knows it. */
import { type Held, keysLost } from '../../../backup/sudden-loss.ts';
import { type Driver, defineDriver, isNoLaterMinor } from '../../../engine/driver/driver.ts';
import { type EtcdDestination, type EtcdSource, type EtcdState, etcdContents, etcdSchemas } from '../backup/schemas.ts';
import { dumpEtcd } from './dump.ts';
import { checkedSnapshot } from './snapshot.ts';
import { writeSnapshot } from './snapshot-file.ts';

export const etcdDriver: Driver = defineDriver<EtcdSource, EtcdDestination, EtcdState>({
  engine: 'etcd',
  kind: 'EtcdCluster',
  schemas: etcdSchemas,
  dump: dumpEtcd,
  // Other containers of the pod fill the volume, from a directory that no other pod has seen.
  begun: () => Promise.resolve(undefined),
  fill: ({ file }, { plainSha256 }, content, { signal }) => writeSnapshot(file, plainSha256, content, signal),
  check: checkedSnapshot,
  describe: (state) => ({
    contents: etcdContents(state),
    ...(state.authentication === true ? { authentication: true } : {}),
  }),
  lossSince: etcdLossSince,
  canRead: isNoLaterMinor,
});

/**
 * A snapshot is the file of the database, with every version of a key since the last compaction, and with pages that are
 * free until the next defragmentation: it shrinks to a hundredth and no data is lost, so its size tells nothing.
 */
function etcdLossSince(before: Held<EtcdState>, after: Held<EtcdState>): string | undefined {
  const [earlier, later] = [before.state, after.state];
  if (later.clusterId !== earlier.clusterId) {
    return `it is of the etcd cluster ${later.clusterId}, and ${before.id} was of ${earlier.clusterId}`;
  }
  if (BigInt(later.revision) < BigInt(earlier.revision)) {
    return `its revision is ${later.revision}, and that of ${before.id} was ${earlier.revision}`;
  }
  return keysLost(amountOf(before), amountOf(after));
}

/** Of a manifest that counts no keys, a revision that anybody has written tells as much. */
function amountOf({ id, state: { keys, revision } }: Held<EtcdState>) {
  return { id, keys, hasData: keys === undefined ? BigInt(revision) > 1n : keys > 0 };
}
