/** The CustomResourceDefinitions of every engine's kind. */
import { Construct } from 'constructs';
import { customResourceDefinition } from '../api/crd.ts';
import { engines } from '../engines/index.ts';
import { plainObject } from './plain-object.ts';

export class Crds extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    for (const { kind } of engines) plainObject(this, kind.resource.plural, customResourceDefinition(kind));
  }
}
