/** What is in the two bundles of the operator's image, by what esbuild says it has put there. */
import { build } from 'esbuild';
import { expect, it } from 'vitest';

async function contentsOf(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const [output] = Object.values(metafile.outputs);
  return Object.entries(output?.inputs ?? {}).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
}

it('the controller has no cdk8s, no CLI, no image recipe, no alert and nothing of the agent', async () => {
  const files = await contentsOf('src/controller.ts');
  expect(files).toContain('src/engines/etcd/plan/plan.ts');
  const foreign =
    /node_modules\/(cdk8s|constructs|yargs|@aws-sdk|@smithy|@grafana)|^src\/(agent|cli|constructs|charts|monitoring|testing|engine\/driver|engines\/\w+\/agent)\/|^src\/engine\/monitoring\.ts|^src\/engines\/(\w+\/)?(images|monitoring)\b/;
  expect(files.filter((file) => foreign.test(file))).toEqual([]);
});

it('the agent plans nothing, and makes no objects of Kubernetes', async () => {
  const files = await contentsOf('src/agent.ts');
  expect(files).toContain('src/engines/redis/agent/driver.ts');
  const foreign =
    /node_modules\/(cdk8s|constructs|yargs|@grafana)|^src\/(runtime|plan|jobs|cli|testing|monitoring|engine\/monitoring|engines\/\w+\/(plan|observe|act|resources|status|index|images|monitoring)|engines\/(images|monitoring))\b/;
  expect(files.filter((file) => foreign.test(file))).toEqual([]);
});
