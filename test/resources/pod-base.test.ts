import { expect, it } from 'vitest';
import { podAccount } from '../../src/resources/pod-base.ts';

it('an account is written to both of its fields, since the API server restores the one from the other', () => {
  expect(podAccount({ serviceAccountName: 'restricted' })).toEqual({
    serviceAccountName: 'restricted',
    serviceAccount: 'restricted',
  });
  expect(podAccount({})).toEqual({});
});
