/** What Argo CD is told of each kind: how its health is read, and what people may do with it in the UI. */
import type { KindDefinition } from '../../api/kind.ts';
import { postgresKind } from '../../engines/postgres/kind/schema.ts';
import { texts } from './lua/texts.ts';

export type ActionName = 'pause' | 'resume' | 'restart' | 'back-up';

export interface Actions {
  /** Lua that says which of them are offered for an object. */
  readonly discovery: string;
  /** Lua of each. */
  readonly scripts: Readonly<Partial<Record<ActionName, string>>>;
}

export interface Customization {
  readonly kind: KindDefinition;
  readonly health: string;
  readonly actions?: Actions;
}

export function customizationOf(kind: KindDefinition): Customization {
  const actions = actionsOf(kind);
  return { kind, health: texts['health.lua'], ...(actions === undefined ? {} : { actions }) };
}

/** By the fields that the kind has. */
function actionsOf(kind: KindDefinition): Actions | undefined {
  const fields = kind.schema.properties?.spec?.properties ?? {};
  if (fields.suspend !== undefined) {
    return {
      discovery: texts['discover-schedule.lua'],
      scripts: {
        pause: texts['pause-schedule.lua'],
        resume: texts['resume-schedule.lua'],
        'back-up': texts['back-up.lua'],
      },
    };
  }
  if (fields.paused === undefined) return undefined;
  return {
    discovery: texts['discover-cluster.lua'],
    scripts: {
      pause: texts['pause-cluster.lua'],
      resume: texts['resume-cluster.lua'],
      // The one kind that restarts on request.
      ...(kind === postgresKind ? { restart: texts['restart-cluster.lua'] } : {}),
      'back-up': texts['back-up.lua'],
    },
  };
}
