/** The pod that archives the log waits for no member, and no member for it: also where the API server refuses one of their templates. */
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import type { Step } from '../../src/plan/plan.ts';
import { childrenOf } from '../../src/resources/children.ts';
import { archiveComponent, componentLabel } from '../../src/resources/metadata.ts';
import { type JudgedUse, obstaclesTo } from '../../src/runtime/template-obstacles.ts';
import type { Verdict } from '../../src/runtime/template-verdict.ts';

type Told = 'accepted' | 'refused';

function written(name: string, component: string, told: Told): JudgedUse {
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'apps', labels: { [componentLabel]: component } },
  };
  const step: Step = { type: 'apply', object: set, changes: [] };
  const verdict: Verdict = told === 'accepted' ? { state: 'accepted' } : { state: 'refused', words: 'no' };
  return { use: { step, set }, verdict, at: 0, unknownSince: undefined };
}

it.each<readonly [string, Told, Told, string[]]>([
  ['nothing is held where both are taken', 'accepted', 'accepted', []],
  ['a template of the archive that is refused holds no member', 'accepted', 'refused', ['db-archive']],
  [
    'one of a member that is refused holds the other members, and not the archive',
    'refused',
    'accepted',
    ['db-0', 'db-1'],
  ],
  ['if both are refused, both wait, with one message', 'refused', 'refused', ['db-0', 'db-1 db-archive']],
])('%s', (_, member, archive, expected) => {
  const judged = [
    written('db-0', 'member', member),
    written('db-1', 'member', 'accepted'),
    written('db-archive', archiveComponent, archive),
  ];
  const obstacles = obstaclesTo(judged, childrenOf([]));
  const held = obstacles.flatMap(({ steps }) =>
    steps.flatMap((step) => ('object' in step ? [step.object.metadata.name] : [])),
  );
  expect(held).toEqual(expected.flatMap((names) => names.split(' ')));
  expect(obstacles.length).toBe(held.length === 0 ? 0 : 1);
});
