/**
 * `clusterwright render`: the children that the controller would create for a custom resource, without a cluster.
 *
 * They are the steps that a plan against nothing makes of the engine's children, so what is printed here and what the
 * executor sends are one computation. What only a cluster can give is missing: owner references, and the values of Secrets.
 */
import { type Desired, objectSteps } from '../plan/objects.ts';
import type { ObjectStep } from '../plan/plan.ts';
import { noChildren } from '../resources/children.ts';
import { type AgentImageArguments, namedAgentImage } from './agent-image.ts';
import type { Command } from './cli-context.ts';
import { allOrFaults, namespaceOf, ownClusters, validCluster } from './clusters.ts';
import { documentsText, type Format, type Printed } from './documents.ts';
import { formerVersions } from './former.ts';
import { type ImageRegistryArguments, namedImageRegistry } from './image-registry.ts';
import { readDocuments } from './manifest-files.ts';
import { type OperatorNamespaceArguments, operatorHome } from './operator-namespace.ts';
import { missingTarget, referredAmong } from './referral.ts';

export interface RenderArguments extends AgentImageArguments, ImageRegistryArguments, OperatorNamespaceArguments {
  /** Or a folder, or `-` for standard input. */
  readonly file: string;
  /** Default `yaml`. */
  readonly output?: Format | undefined;
  /** For objects that name none. Default `default`. */
  readonly namespace?: string | undefined;
  /** The manifest as it was before. */
  readonly from?: string | undefined;
}

export const render: Command<RenderArguments> = async (args, cli) => {
  const { file, output = 'yaml', namespace, from } = args;
  const engines = await cli.handlers(namedAgentImage(args, cli), {
    imageRegistry: namedImageRegistry(args, cli),
    operatorNamespace: operatorHome(args, cli),
  });
  const { clusters, notes } = ownClusters(engines, await readDocuments(file, cli));
  const where = { namespace, fallback: 'default' };
  const before = from === undefined ? undefined : await formerVersions(engines, from, where, cli);
  const valid = await allOrFaults(clusters, (written) => ({
    engine: written.engine,
    cluster: validCluster(written, written.object, {
      namespace: namespaceOf(written, where),
      old: before?.(written),
    }),
  }));
  for (const note of notes) cli.stderr(`${note}\n`);
  const objects = clusters.map(({ object }) => object);
  const printed = valid.flatMap(({ engine, cluster }) => {
    const referred = referredAmong(engines, engine, cluster, objects);
    const referral = engine.targetRef?.(cluster);
    const desired = engine.resources(cluster, referred);
    if (referral !== undefined && referred === undefined) {
      const missing = missingTarget(referral, cluster.metadata.namespace, { subject: file, objects });
      const shown = desired.length === 0 ? 'cannot show its objects' : 'shows its objects without what depends on that';
      const advice = `\`render\` ${shown}: add ${referral.kind} ${referral.name} to the manifest`;
      cli.stderr(`${cluster.kind}/${cluster.metadata.name}: ${missing}. ${advice}\n`);
    }
    const issued = desired.flatMap((child): Printed[] => (child.issued === true ? [issuedChild(child)] : []));
    const created = objectSteps(desired, noChildren).flatMap((step): Printed[] =>
      step.type === 'create' ? [printedChild(step)] : [],
    );
    return [...issued, ...created];
  });
  cli.stdout(documentsText(printed, output));
  return 0;
};

function issuedChild({ object }: Desired): Printed {
  return { object, comment: 'The controller adds certificates and keys, and renews them.' };
}

function printedChild({ object, generate = [] }: Extract<ObjectStep, { type: 'create' }>): Printed {
  return generate.length === 0 ? { object } : { object, comment: `The controller adds ${generatedText(generate)}.` };
}

/** `password (32 random characters)` */
export function generatedText(generate: readonly { readonly key: string; readonly length: number }[]): string {
  return generate.map(({ key, length }) => `${key} (${length} random characters)`).join(', ');
}
