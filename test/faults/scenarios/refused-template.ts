/** A PriorityClass is named that is not there: the API server makes no pod of the new template until somebody makes the class. */
import type { Scenario, Spec, Stage } from './scenario.ts';

const priorityClassName = 'nobody';
const lookMs = 500;
/** For the status to say so, also where nobody may write for a while. */
const patienceMs = 180_000;
/** In which somebody would have restarted. */
const waitMs = 20_000;

async function act(stage: Stage): Promise<void> {
  await stage.change({ scheduling: { priorityClassName } });
  for (let ms = 0; ms < patienceMs && !stage.said().includes('TemplateRefused'); ms += lookMs)
    await stage.pause(lookMs);
  await stage.pause(waitMs);
  const metadata = { name: priorityClassName };
  await stage.make({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value: 1000 });
}

/** `writes`: see `Scenario`. */
export function refusedTemplate(before: Spec, writes: number): Omit<Scenario, 'engine'> {
  return {
    id: 'S14 class',
    title: 'a PriorityClass that does not exist at first and is created later',
    touches: ['scheduling'],
    before,
    act,
    end: 'whole',
    writes,
    written: true,
  };
}
