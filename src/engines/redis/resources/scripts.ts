/**
 * The shell that runs inside the pods: what must work while the operator is away.
 *
 * The texts are constants. Whatever differs between clusters comes in as an environment variable or a mounted file and
 * is quoted where it is used, so nothing of a custom resource is ever parsed as shell. They need a POSIX shell, awk,
 * timeout and redis-cli or valkey-cli: all present in the official images and in Debian's.
 *
 * The one rule behind them: **a node that starts never makes itself primary while anybody else could hold more data.**
 * It asks the sentinels and follows, unless they may be about to elect another, and until they know it leaves again when
 * they may; a restarted primary asks them to fail over and comes back as a replica.
 */

import { recordUser } from '../client/user-record.ts';
import { clientRule, sentinelClientRule } from './client-rule.ts';
import { texts } from './shell/texts.ts';

/** What clients may not do has its home in `client-rule.ts`, who keeps the users in `client/user-record.ts`. */
const library = texts['library.sh']
  .replace(' CLIENT_RULE', ` ${clientRule.map((rule) => `'${rule}'`).join(' ')}`)
  .replace(' SENTINEL_CLIENT_RULE', ` ${sentinelClientRule}`)
  .replaceAll('RECORD_USER', recordUser);

/** File name in the ConfigMap to text. */
export const scripts = {
  /** What the other scripts source: talking to this node, to others and to the sentinels, every call bounded. */
  'library.sh': library,
  /**
   * What a data node's volume says about itself.
   *
   * `/data/initialised` is the mark of a volume whose append-only file holds the node's dataset; its content is the address at
   * which that was so last. Only a node that starts with the mark may be elected, or be made primary.
   *
   * A server that copies its primary's dataset loads it into memory, acknowledges writes from then on, and only then begins to
   * rewrite the append-only file. Until that has ended, a restart finds the data from before the copy. Nothing tells the pod
   * when a copy begins, and a process may be killed at any moment. But a copy leaves traces on the disk before its first
   * acknowledgement: the server receives it into `dump.rdb`, and appends to a file of another name until the rewrite is done.
   * So the mark is valid only where it is newer than the former, and the latter is not there.
   *
   * A node may also hold less than a primary that lives: its own from before it restarted, or from before a copy that is under way. Sentinel
   * would elect it where that primary's process is killed, which comes back with all that it had. `/run/redis/behind` says when such a
   * primary lived last, by the clock of the machine; it outlives the container, as the address does by which sentinels know the node.
   *
   * `/data/term` says in which term the node was primary, or whose replica it was: `primary-7`, `replica-7`. A term is a node's time
   * as primary; each is one more than the last that the node knew. Sentinels forget theirs when the power fails, and the
   * operator may have been away: then the highest term of the volumes tells who was primary last. The server carries it as
   * `cluster-announce-hostname`, which means nothing without Redis Cluster, so that replicas and the operator can read it.
   *
   * `/data/databases` says how many databases the volume was used with, at most. Another cluster of the name may ask for fewer, and a server
   * that has fewer puts the keys of one into another.
   */
  'volume.sh': texts['volume.sh'],
  /**
   * Entry point of a data node. Decides the role before the server runs.
   *
   * The server takes the last line that it reads of a directive. So those that decide what it loads and where it keeps it
   * follow the included file, whatever somebody has made of that: without `appendonly` a server starts empty and writes
   * over what the volume holds; with fewer databases than its data has, it puts the keys of one into another. The names of
   * the append-only file are those that a restore gives its own (`engines/redis/agent/volume.ts`). The number of databases is the
   * only one of them that a user sets, and comes with the pod; a volume that was used with more keeps them.
   */
  'start-data.sh': texts['start-data.sh'],
  /**
   * Startup probe of a data node: marks the volume with its address once it holds the dataset, and admits the node once the
   * sentinels know it, too. Until then it is in no Service, and a blank node has priority 0, so that no election can make it primary.
   *
   * A sentinel learns of a replica from the primary, every two seconds, and elects another primary after three seconds of
   * silence at the earliest. What a node acknowledges that no sentinel knows is lost with the primary that is replaced: it
   * would stay with that one, and take its writes when it goes on. So such a node stays only as long as it would be safe to
   * join. A node that follows nobody, or a dead address, asks the sentinels again here.
   */
  'admit.sh': texts['admit.sh'],
  /**
   * Readiness of a data node: the process answers and has loaded its data. Whether it has, only one who may ask is told. A node
   * that refuses its own pod (another password was set by hand, as many clients as it takes) stays as it was: it is no
   * less of use to clients than before, and all nodes of a cluster tend to refuse at once.
   */
  'ping.sh': texts['ping.sh'],
  /**
   * The fence of a primary that is cut off. A loop beside the server looks every second or two whom the primary reaches: a replica that
   * acknowledges, or, where there is none or none counts, most of the sentinels. Where it has reached neither for the time of the spec, the
   * server is told to refuse writes, by `min-replicas-to-write`: at once and with an error, while reads, replication and the word of sentinels go
   * on. The loop puts back what the directive was once a replica acknowledges, or most sentinels name this primary again. A primary that most
   * sentinels have named, and that they name no more, refuses writes at once.
   *
   * `start-data.sh` starts the loop. `ping.sh` starts it again where it has not looked for 15 s, also in containers from before there was one.
   */
  'fence-loop.sh': texts['fence-loop.sh'],
  'fence.sh': texts['fence.sh'],
  /**
   * The certificate, where the cluster has TLS. The kubelet brings the mounted files at a time of its own, so they are copied to where a digest of
   * their content leads. `ping.sh` copies them, and the operator tells the server which ones to read.
   */
  'tls.sh': texts['tls.sh'],
  /** Liveness of a server: any reply is life, also a refusal. So it needs no password, and nothing that could be wrong. */
  'alive.sh': texts['alive.sh'],
  /**
   * preStop of a data node: a primary hands its role over before the server gets SIGTERM. Writes are paused, so that
   * nothing can be acknowledged by the old primary that the new one has not got; then Sentinel is asked, and this node
   * follows whom Sentinel promoted. Bounded at about 10 s in all; when it cannot, it gives up and leaves the rest to
   * the ordinary failover. Whatever its role, a server that has just copied the dataset gets up to 20 s more to write it.
   */
  'hand-over.sh': texts['hand-over.sh'],
  /**
   * Entry point of a sentinel. Its identity comes from its pod's name, so a sentinel that returns with another address
   * replaces itself in its peers' lists instead of adding a voter. A fresh one learns the primary from its peers; when
   * none knows, it starts without and the operator tells it.
   */
  'start-sentinel.sh': texts['start-sentinel.sh'],
  /**
   * Readiness of a sentinel: it watches a primary. One that refuses its own pod stays as it was. It also has it ask the nodes
   * every two seconds or sooner (`timing.ts`) instead of ten what they know, which is no directive: a replica that no sentinel
   * has heard of is not admitted.
   */
  'watching.sh': texts['watching.sh'],
  'sentinel-alive.sh': texts['sentinel-alive.sh'],
  /**
   * Entry point of the exporter. Also in a cluster without one: where it is taken out of the spec, its containers run on until their template
   * may change, and start by this file.
   */
  'exporter.sh': texts['exporter.sh'],
} as const;

export type ScriptName = keyof typeof scripts;
