/** All fault classes, in their order. */
import { answerLost, crashAfter, crashBefore } from './crashes.ts';
import { drifted } from './drifts.ts';
import type { FaultGenerator } from './fault-class.ts';
import { flapping } from './flaps.ts';
import { leaseLost } from './lease.ts';
import { apiDown } from './outage.ts';
import { processFaults } from './processes.ts';
import { conflict, denied, serverErrors, throttled } from './refusals.ts';
import { delayedWatch, endedWatch, expired, repeatedEvents, skippedVersions, staleView } from './views.ts';

export const faultGenerators: readonly FaultGenerator[] = [
  crashAfter,
  crashBefore,
  answerLost,
  conflict,
  throttled,
  serverErrors,
  apiDown,
  staleView,
  skippedVersions,
  delayedWatch,
  repeatedEvents,
  endedWatch,
  expired,
  leaseLost,
  drifted,
  processFaults,
  denied,
  flapping,
];
