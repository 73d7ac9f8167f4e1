/** Who may use the database: everybody who reaches it, or only those who say who they are. */
import { wait } from '../../../plan/plan.ts';
import type { Target } from '../action.ts';
import type { Situation } from '../observe/situation.ts';
import { acting, type EtcdPlan } from './membership.ts';

/** Undefined when it is as the spec wants it. A majority is enough: who is away takes it over when he is back. */
export function planAuth({ spec, observed }: Situation, via: Target): EtcdPlan | undefined {
  const { isAuthenticated = false, hasPreviousPassword = false } = observed.agreed ?? {};
  if (hasPreviousPassword && spec.auth.enabled) {
    return acting(
      { type: 'etcd.changePassword', via },
      'give root the present password of the Secret in place of the one before',
      wait('ChangingPassword', 'root gets the present password', 500),
    );
  }
  if (spec.auth.enabled === isAuthenticated) return undefined;
  return spec.auth.enabled
    ? acting(
        { type: 'etcd.enableAuth', via },
        'make the root user, and let nobody in who does not say who they are',
        wait('EnablingAuth', 'nobody is let in any more who does not say who they are', 500),
      )
    : acting(
        { type: 'etcd.disableAuth', via },
        'let everybody in: spec.auth.enabled is false',
        wait('DisablingAuth', 'everybody is let in', 500),
      );
}
