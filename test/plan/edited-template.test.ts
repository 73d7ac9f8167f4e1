/** Whether a template follows from an edit, which may repair a pod at once, or has waited before. */
import { describe, expect, it } from 'vitest';
import { statusSchema } from '../../src/api/status-schema.ts';
import { settled } from '../../src/plan/plan.ts';
import { fingerprint, gateOf, printed, type Story, told, windows } from '../support/gate-story.ts';

describe('a pod that cannot start', () => {
  const stopped: Story = {
    spec: { maintenance: { windows } },
    pods: { 2: 'stopped' },
    steps: [printed('0-before', '1-now')],
  };
  it.each<readonly [string, Story, boolean]>([
    ['gets the template of an edit', { isEdited: true }, true],
    ['gets it also later, where it could not be written at once', { told: 'edited' }, true],
    ['and while something else is edited', { isEdited: true, told: 'edited' }, true],
    [
      'gets none that has waited before, since another part of the spec is edited',
      { isEdited: true, told: 'held' },
      false,
    ],
    ['gets that of an edit while another one has waited', { isEdited: true, told: 'another' }, true],
    ['gets none that nobody has edited', {}, false],
    ['gets none of another operator while one has waited', { told: 'another' }, false],
    [
      'gets that of an edit by the plan for the time of waiting',
      { isEdited: true, steps: [], plan: { otherwise: { steps: stopped.steps ?? [], outcome: settled } } },
      true,
    ],
  ])('%s', (_, story, isWritten) => {
    const lines = told({ ...stopped, ...story });
    expect(lines.includes(`apply ${fingerprint}`)).toBe(isWritten);
  });

  it('is told of both templates that wait for one StatefulSet, by what tells them apart in the status', () => {
    const otherwise = { steps: [printed('0-before', '2-pinned')], outcome: settled };
    const { heldTemplates } = gateOf({
      spec: { maintenance: { windows } },
      steps: stopped.steps ?? [],
      plan: { otherwise },
    });
    expect(heldTemplates).toEqual([
      { name: 'db', template: 'now' },
      { name: 'db', template: 'pinned' },
    ]);
    const { 'x-kubernetes-list-map-keys': keys } = statusSchema.properties.heldTemplates;
    const told = heldTemplates.map((one) => keys.map((key) => one[key]).join('/'));
    expect(new Set(told).size).toBe(heldTemplates.length);
  });

  it('is told the same while the cluster is paused', () => {
    const spec = { paused: true, maintenance: { windows } };
    const { heldTemplates } = gateOf({ ...stopped, spec, steps: [], told: 'held' });
    expect(heldTemplates).toEqual([{ name: 'db', template: 'now' }]);
  });

  it.each<readonly [string, Story, object]>([
    ['of an edit that repairs', { isEdited: true, pods: { 2: 'stopped' } }, { edited: true }],
    ['of an edit that repairs nothing, and later does', { isEdited: true }, {}],
    ['that nobody has edited', { pods: { 2: 'stopped' } }, {}],
  ])('is told of a template %s', (_, story, more) => {
    const spec = { maintenance: { windows } };
    expect(gateOf({ spec, steps: [printed('0-before', '1-now')], ...story }).heldTemplates).toEqual([
      { name: 'db', template: 'now', ...more },
    ]);
  });
});
