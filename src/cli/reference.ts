/** `clusterwright reference`: the page of a kind, as Markdown: every field, default, limit and rule. */
import { referencePage } from '../api/reference.ts';
import type { Command } from './cli-context.ts';
import { CommandError } from './fault.ts';
import { engineNamed } from './kinds.ts';

export interface ReferenceArguments {
  /** As kubectl takes it: kind, plural or short name. */
  readonly kind: string;
}

export const reference: Command<ReferenceArguments> = async ({ kind: name }, cli) => {
  const handlers = await cli.handlers();
  const found = engineNamed(handlers, name);
  if (found === undefined) {
    const known = handlers.map((handler) => handler.kind.resource.kind).join(', ');
    throw new CommandError(`no kind is called ${name}; there are: ${known}`);
  }
  const { kind, reference: options } = found;
  const generator = `${cli.program} reference ${kind.resource.kind}`;
  cli.stdout(referencePage(kind, options, generator));
  return 0;
};
