/**
 * What the clients' user may not do. A sentinel from elsewhere that has the clients' password and remembers an address of this
 * cluster would make the primary a replica of its own, and by its words on `__sentinel__:hello` the sentinels here would go over to its primary where
 * the two have one name. So REPLICAOF, FAILOVER and those channels are the cluster's own identity's. It keeps out who comes by mistake:
 * clients may change their own rules.
 */

/** Every channel of Sentinel begins with it. */
const reserved = '__sentinel__';

/**
 * Patterns for every channel whose name does not begin with it: rules have no exceptions. Subscriptions by pattern need leave for all channels, so this
 * is for PUBLISH alone.
 */
const unreserved = [...reserved].flatMap((letter, i) => {
  const before = reserved.slice(0, i);
  return [...(i === 0 ? [] : [`&${before}`]), `&${before}[^${letter}]*`];
});

/** What follows `ACL SETUSER default` on a data node. May be said again. */
export const clientRule: readonly string[] = [
  ...['-replicaof', '-slaveof', '-failover', '-publish'],
  ...['clearselectors', `(+publish ${unreserved.join(' ')})`],
];

/** On a sentinel. Clients subscribe there, and only sentinels publish. */
export const sentinelClientRule = '-publish';

/** In mode Cluster: what changes who serves which slots is the cluster's own identity's, whatever a later version calls it. */
export const shardClientRule: readonly string[] = [
  ...['-replicaof', '-slaveof', '-failover', '-cluster'],
  ...[
    'info',
    'nodes',
    'slots',
    'shards',
    'myid',
    'keyslot',
    'countkeysinslot',
    'getkeysinslot',
    'links',
    'replicas',
  ].map((subcommand) => `+cluster|${subcommand}`),
];
