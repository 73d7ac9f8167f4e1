/** Where the operator runs that a command stands for, or looks at. */
import { defaultOperatorNamespace } from '../resources/operator-pods.ts';
import type { CliContext } from './cli-context.ts';
import { CommandError } from './fault.ts';

export interface OperatorNamespaceArguments {
  /** Default: `CLUSTERWRIGHT_OPERATOR_NAMESPACE`, else `clusterwright-system`. */
  readonly operatorNamespace?: string | undefined;
}

const variable = 'CLUSTERWRIGHT_OPERATOR_NAMESPACE';

/** @throws CommandError where it is no name of a namespace */
export function operatorHome(
  { operatorNamespace }: OperatorNamespaceArguments,
  { env }: Pick<CliContext, 'env'>,
): string {
  const named = operatorNamespace ?? env[variable] ?? '';
  if (named === '') return defaultOperatorNamespace;
  if (named.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(named)) return named;
  throw new CommandError(
    `${operatorNamespace === undefined ? variable : '--operator-namespace'} must be the name of a namespace: at most 63 lower-case letters, digits and -`,
  );
}
