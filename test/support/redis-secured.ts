/** Redis processes in memory that show a certificate: of a cluster with TLS that is whole. */
import { copied } from '../../src/certificates/copied.ts';
import { leafKeys } from '../../src/certificates/facts.ts';
import { certificateOf } from '../../src/certificates/x509.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import { identityUser } from '../../src/engines/redis/client/identity.ts';
import type { RedisSpecInput } from '../../src/engines/redis/kind/schema.ts';
import type { DataNode } from '../../src/engines/redis/observe/observed.ts';
import {
  authorityWanted,
  certificateDigest,
  copyWanted,
  serverCaChildren,
} from '../../src/engines/redis/resources/certificates.ts';
import { fingerprinted } from '../../src/plan/difference.ts';
import { issuing } from '../../src/plan/issuance.ts';
import type { EngineSample } from '../../src/testing/sample.ts';
import { stored } from '../../src/testing/stored-object.ts';
import { carryOut, madeBy, madeCa, type Secrets, seenIn } from './issued-secrets.ts';
import { identified, processesOf } from './redis-network.ts';
import { redisCluster, redisWorld } from './redis-situation.ts';
import { scriptedNetwork } from './scripted-redis.ts';
import { VirtualClock } from './virtual-clock.ts';

const own = 'nobody-elses-password';

/** @param spec with `tls` */
export function securedSample(story: string, password: string, spec: RedisSpecInput): EngineSample {
  const cluster = redisCluster(spec);
  const now = new VirtualClock().now();
  const secrets: Secrets = { 'db-auth': { password }, 'db-internal': { password: own } };
  const wanted = authorityWanted(cluster);
  const nobody = { areNone: true, areUpToDate: true };
  if (wanted !== undefined) carryOut(issuing(wanted, seenIn(wanted, {}), nobody, now) ?? [], secrets, now);
  const { secret, from } = copyWanted(cluster) ?? { secret: '', from: '' };
  const source = secrets[from] ?? madeBy(madeCa('theirs', now), ['db-primary.apps.svc'], now);
  const copy = copied('all', source, {}, now);
  Object.assign(secrets, { [from]: source, [secret]: copy });
  const tls: DataNode['tls'] = { port: 6380, digest: certificateDigest(copy) };
  const { children, observed } = redisWorld({
    spec,
    nodes: { all: { tls } },
    children: (objects) => [
      ...objects,
      ...serverCaChildren(cluster, copy[leafKeys.trusted], undefined, now).map(({ object }) =>
        stored(fingerprinted(object)),
      ),
    ],
  });
  const identity = { user: identityUser(cluster), password: own };
  const processes = identified(processesOf(observed), identity, password);
  const listening = observed.data.map(({ address }) => [`${address}:6380`, () => 'OK'] as const);
  const network = scriptedNetwork({ processes: { ...processes, ...Object.fromEntries(listening) }, password, secrets });
  const peerFingerprint = certificateOf(copy[leafKeys.certificate])?.fingerprint256;
  const secure: EngineContext['secure'] = async (stream) => Object.assign(stream, { peerFingerprint });
  const keys = Object.values(secrets).flatMap((values) => values[leafKeys.key] ?? []);
  return { story, cluster, whole: { children, io: { ...network.io, secure } }, secrets: [password, own, ...keys] };
}
