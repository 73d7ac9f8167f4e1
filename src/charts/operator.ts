/** The operator and its rights. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { Operator, type OperatorProps } from '../constructs/operator.ts';

export class OperatorChart extends Chart {
  constructor(scope: Construct, id: string, props: OperatorProps = {}) {
    super(scope, id, { disableResourceNameHashes: true });
    new Operator(this, 'operator', props);
  }
}
