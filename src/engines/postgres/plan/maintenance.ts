/**
 * What goes on while the spec is not valid: certificates end, whatever anybody has written. Members that have not read the renewed ones are
 * told to, or they would go on with those that end.
 */
import type { Maintenance } from '../../../engine/engine.ts';
import type { PostgresSpec } from '../kind/schema.ts';
import { observeCertificates } from '../observe/certificates.ts';
import { observeMembers } from '../observe/observe.ts';
import { situationOf } from '../observe/situation.ts';
import { reloadSteps } from './certificate-reload.ts';
import { renewals } from './issuance.ts';

export const postgresMaintenance: Maintenance<PostgresSpec> = {
  // The names in the certificates, and whom to trust.
  fields: ['access', 'pooler', 'tls'],
  async plan(cluster, io, children) {
    const seen = await observeCertificates(cluster, io);
    const steps = renewals(cluster, { ...seen, at: io.now() });
    // They have yet to be made, or the kubelet has yet to bring them.
    if (steps.length > 0) return steps;
    const members = await observeMembers(cluster, children, io);
    return reloadSteps(situationOf(cluster, children, { members, at: io.now(), ...seen }));
  },
};
