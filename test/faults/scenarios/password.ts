/** Somebody edits the password in its Secret by hand. The servers have another one, and nobody tells them. */
import type { Scenario, Spec, Stage } from './scenario.ts';

const secret = 'db-auth';
const key = 'password';
const lookMs = 500;
/** For the status to say so, also where nobody may write for a while. */
const patienceMs = 180_000;

/** The operator reads a Secret again within the hour, and when it begins. Returns the password before. */
export async function editPassword(stage: Stage): Promise<string> {
  const before = await stage.editSecret(secret, key, 'edited by hand');
  await stage.restartOperator();
  for (let ms = 0; ms < patienceMs && !stage.said().includes('PasswordUnknown'); ms += lookMs) {
    await stage.pause(lookMs);
  }
  return before;
}

export const putBack = (stage: Stage, password: string): Promise<unknown> => stage.editSecret(secret, key, password);

export function editedPassword(before: Spec): Omit<Scenario, 'engine'> {
  return {
    id: 'S7 password',
    title: 'the password is edited by hand: the operator changes nothing',
    before,
    act: async (stage) => void (await editPassword(stage)),
    end: 'blocked',
    mayDiffer: [{ oracle: 'O2', about: 'would answer WRONGPASS', why: 'the status names the servers that run' }],
    writes: 10,
    written: true,
  };
}
