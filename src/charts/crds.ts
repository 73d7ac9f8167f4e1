/** The CustomResourceDefinitions. It must not import `imports/`, which is generated from its output. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { Crds } from '../constructs/crds.ts';

export class CrdsChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    new Crds(this, 'crds');
  }
}
