/** Maintenance windows that do not open within a run: a change waits until a person opens one, and the correction of one that has begun does not. */
import { maintenanceNowAnnotation } from '../../../src/api/maintenance.ts';
import type { Scenario, Spec, Stage } from './scenario.ts';

/** Virtual time begins on a Tuesday. */
const maintenance = { windows: [{ days: ['Sun'], start: '22:00', duration: '1h' }] };
const lookMs = 500;
/** For the status to say that the change waits, also where nobody may write for a while. */
const patienceMs = 180_000;
/** In which somebody would have restarted. */
const waitMs = 20_000;

async function waiting(stage: Stage, change: Spec): Promise<void> {
  await stage.change(change);
  for (let ms = 0; ms < patienceMs && !stage.said().includes('WaitingForWindow'); ms += lookMs)
    await stage.pause(lookMs);
  await stage.pause(waitMs);
}

/** `writes`: see `Scenario`. */
export function windowOpened(before: Spec, writes: number): Omit<Scenario, 'engine'> {
  return {
    id: 'S4 window',
    title: 'config change that waits for a maintenance window, until a person opens one',
    touches: ['config'],
    before: { ...before, maintenance },
    async act(stage) {
      await waiting(stage, { config: { 'io-threads': 2, 'maxmemory-policy': 'allkeys-lru' } });
      await stage.annotate(maintenanceNowAnnotation, 'yes');
    },
    end: 'whole',
    writes,
    written: true,
  };
}

export function correctedOutsideOfWindow(before: Spec, writes: number): Omit<Scenario, 'engine'> {
  return {
    id: 'S14 window',
    mayDiffer: [
      { oracle: 'O3', about: 'delete pods/', why: 'how far the change got before it was taken back is chance' },
    ],
    title: 'an image that cannot be pulled in a maintenance window, then the previous one outside of it',
    touches: ['image'],
    before: { ...before, maintenance },
    async act(stage) {
      await waiting(stage, { image: 'registry.example/absent:1' });
      await stage.annotate(maintenanceNowAnnotation, 'yes');
      await stage.pause(60_000);
      await stage.annotate(maintenanceNowAnnotation, null);
      await stage.change({ image: null });
    },
    end: 'whole',
    writes,
    written: true,
  };
}
