/** Somebody puts another password into its Secret: one that servers can be told, and one that is of no use. */
import type { Scenario, Spec, Stage } from './scenario.ts';

const secret = 'db-auth';
const key = 'password';
const lookMs = 500;
/** For the status to say so, also where nobody may write for a while. */
const patienceMs = 180_000;
/** Longer than a kubelet takes to show the Secret to the pods. */
const overlap = '2m';

/** Whether the status says so, or does not any more, before long. */
async function until(stage: Stage, holds: (said: string) => boolean, ms = patienceMs): Promise<void> {
  for (let passed = 0; passed < ms && !holds(stage.said()); passed += lookMs) await stage.pause(lookMs);
}

/** Returns the password before, once all accept both. The new one is in no text of ours: O11 looks for it everywhere. */
export async function changePassword(stage: Stage): Promise<string> {
  const before = await stage.editSecret(secret, key, 'n3xt passw0rd');
  await until(stage, (said) => said.includes('PasswordOverlap'));
  return before;
}

export const putBack = (stage: Stage, password: string): Promise<unknown> => stage.editSecret(secret, key, password);

export function anotherPassword(before: Spec): Omit<Scenario, 'engine'> {
  return {
    id: 'S7 password',
    title: 'another password in the Secret, and the former one is accepted for a while',
    before: { ...before, auth: { overlap } },
    async act(stage) {
      await changePassword(stage);
      await until(stage, (said) => !said.includes('PasswordOverlap'), 2 * patienceMs);
    },
    end: 'whole',
    writes: 10,
    written: true,
  };
}

export function unusablePassword(before: Spec): Omit<Scenario, 'engine'> {
  return {
    id: 'S7 unusable',
    title: 'a password in the Secret that is of no use: the operator changes nothing',
    before,
    async act(stage) {
      await stage.editSecret(secret, key, 'with a\ttab');
      await until(stage, (said) => said.includes('PasswordUnusable'));
    },
    end: 'blocked',
    writes: 10,
    written: true,
  };
}
