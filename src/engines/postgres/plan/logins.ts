/** The Secrets and passwords of the operator's roles that log in with one. */
import type { Desired } from '../../../plan/objects.ts';
import type { Step } from '../../../plan/plan.ts';
import type { PostgresAction } from '../action.ts';
import { postgresNames } from '../names.ts';
import type { LiveMember } from '../observe/observed.ts';
import type { Situation } from '../observe/situation.ts';
import { exporterSecret } from '../resources/exporter.ts';
import { poolerSecret } from '../resources/pooler.ts';

/** Nobody watches Secrets: one that is wanted only now is made when it was not found. */
export function loginSteps({ cluster, observed }: Situation, { pod, address }: LiveMember): Step<PostgresAction>[] {
  const secrets = [poolerSecret(cluster), exporterSecret(cluster)];
  return (observed.logins ?? []).flatMap(({ role, secret, state }): Step<PostgresAction>[] => {
    switch (state) {
      case 'secret-missing':
        return secrets.filter(({ object }) => object.metadata.name === secret).map(created);
      case 'password-wrong':
        return [
          {
            type: 'act',
            action: { type: 'postgres.setLogin', via: { pod, address }, role, secret },
            summary: `set the password of role ${role} to that of its Secret`,
          },
        ];
      case 'role-missing':
      case 'well':
      case 'unknown':
        return [];
      default:
        return state satisfies never;
    }
  });
}

/** The operator's role may not make them: they are members of roles that it cannot grant. */
export function missingRoles({ cluster, observed }: Situation): string | undefined {
  const roles = (observed.logins ?? []).flatMap(({ role, state }) => (state === 'role-missing' ? [role] : []));
  if (roles.length === 0) return undefined;
  const { patroni } = postgresNames(cluster.metadata.name);
  return `there is no role ${roles.join(', ')}: a superuser can make it with the statements of post-init.sh in ConfigMap ${patroni}`;
}

function created({ object, generate }: Desired): Step<PostgresAction> {
  return { type: 'create', object, ...(generate === undefined ? {} : { generate }) };
}
