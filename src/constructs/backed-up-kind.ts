/** A misspelled kind of the cluster to back up is found at synth. The API server takes any, since engines may come from other packages. */
import type { Construct } from 'constructs';
import { engines as ownEngines } from '../engines/index.ts';
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';

export interface BackedUpProps {
  /** What the operator's image serves. Default: the engines of this package. */
  readonly engines?: readonly DefinedEngine[];
}

/** As a program may write it that nobody has type-checked. */
interface WrittenProps extends BackedUpProps {
  readonly spec?: { readonly cluster?: { readonly kind?: unknown } };
}

/** The synth of `scope` fails if no engine backs up clusters of the kind. That there is one, and a text, is the schema's rule. */
export function checkBackedUpKind(scope: Construct, { spec, engines = ownEngines }: WrittenProps): void {
  const kind = spec?.cluster?.kind;
  if (typeof kind !== 'string') return;
  scope.node.addValidation({
    validate: () => {
      const known = handlersOf(engines).flatMap((each) => (each.backup === undefined ? [] : each.kind.resource.kind));
      if (known.includes(kind)) return [];
      const hint = engines === ownEngines ? '; a kind of another package needs its engine in the property engines' : '';
      return [`spec.cluster.kind: ${kind} is none of the kinds that are backed up, ${known.join(', ')}${hint}`];
    },
  });
}
