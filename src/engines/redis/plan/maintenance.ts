/**
 * What goes on while the spec is not valid: certificates end, whatever anybody has written. Servers that have not read the renewed one are told
 * to, or they would go on with the one that ends.
 */
import type { Maintenance } from '../../../engine/engine.ts';
import type { RedisSpec } from '../kind/schema.ts';
import { observeCertificates } from '../observe/certificates.ts';
import { observeRedis } from '../observe/observe.ts';
import { withServedTls } from '../observe/served-tls.ts';
import { situationOf } from '../observe/situation.ts';
import { renewals } from './issuance.ts';
import { securingSteps } from './tls.ts';

export const redisMaintenance: Maintenance<RedisSpec> = {
  fields: ['mode', 'tls'],
  async plan(cluster, io, children) {
    const served = withServedTls(cluster, children);
    if (served.spec.tls === undefined) return [];
    const steps = renewals(served, await observeCertificates(served, io), io.now());
    // They have yet to be made, or the kubelet has yet to bring them.
    if (steps.length > 0) return steps;
    return securingSteps(situationOf(cluster, children, await observeRedis(cluster, children, io)));
  },
};
