/**
 * The operator's own identity in one namespace: a service account with the rights that are generated for it, and no
 * other. The harness itself acts as the sandbox's administrator.
 */

import { ownPermissions, watchedPermissions } from '../../../src/jobs/permissions.ts';
import { type Credentials, fixedCredentials } from '../../../src/runtime/credentials.ts';
import type { Transport } from '../../../src/runtime/transport.ts';
import { handlers as engines } from '../../support/handlers.ts';

const name = 'clusterwright';
/** Longer than any run of the harness. */
const tokenSeconds = 4 * 3600;

async function post(admin: Transport, path: string, object: object): Promise<Record<string, unknown>> {
  const { status, body } = await admin.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(object),
  });
  if (status >= 300) throw new Error(`POST ${path}: ${status}: ${body}`);
  return JSON.parse(body) as Record<string, unknown>;
}

/** `admin`: the administrator, whose view of the server's certificate is shared. */
export async function operatorIdentity(
  admin: Transport,
  credentials: Credentials,
  namespace: string,
): Promise<Credentials> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const metadata = { name, namespace };
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const rules = [...ownPermissions, ...watchedPermissions(engines)];
  await post(admin, accounts, { metadata });
  await post(admin, `${rbac}/roles`, { metadata, rules });
  await post(admin, `${rbac}/rolebindings`, {
    metadata,
    roleRef: role,
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  const answer = await post(admin, `${accounts}/${name}/token`, { spec: { expirationSeconds: tokenSeconds } });
  const { token } = answer.status as { readonly token: string };
  const { tls } = await credentials.identity();
  const { cert: _, key: __, ...trust } = tls;
  return fixedCredentials(credentials.server, { tls: trust, authorization: `Bearer ${token}` });
}
