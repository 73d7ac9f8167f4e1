/** An engine whose every status is looked at for contradictions, so that whatever test asks it proves that, too. */
import type { KindHandler, StatusReport } from '../../src/engine/engine.ts';
import { withJudgements } from '../../src/engine/judgement.ts';
import { claimContradictions } from '../../src/testing/claim-contradictions.ts';
import { kstatusContradictions } from './kstatus.ts';

export function truthful(engine: KindHandler): KindHandler {
  return {
    ...engine,
    async assess(...asked) {
      const assessment = await engine.assess(...asked);
      return withJudgements(assessment, ({ plan, status }) => ({ plan, status: coherent(status) }));
    },
  };
}

/** @throws where it contradicts itself */
export function coherent<Claim extends Pick<StatusReport, 'phase' | 'conditions'>>(claim: Claim): Claim {
  const found = [...claimContradictions(claim), ...kstatusContradictions(claim)];
  if (found.length === 0) return claim;
  throw new Error(`a status contradicts itself: ${found.join('; ')}\n${JSON.stringify(claim, undefined, 2)}`);
}
