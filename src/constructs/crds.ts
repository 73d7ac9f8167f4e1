/** The CustomResourceDefinitions of every engine's kind. */
import { Construct } from 'constructs';
import { customResourceDefinition } from '../api/crd.ts';
import { engines as ownEngines } from '../engines/index.ts';
import { type DefinedEngine, handlersOf } from '../jobs/handlers.ts';
import { plainObject } from './plain-object.ts';

export interface CrdsProps {
  /** Default: those of this package. */
  readonly engines?: readonly DefinedEngine[];
}

export class Crds extends Construct {
  constructor(scope: Construct, id: string, { engines = ownEngines }: CrdsProps = {}) {
    super(scope, id);
    for (const { kind } of handlersOf(engines)) plainObject(this, kind.resource.plural, customResourceDefinition(kind));
  }
}
