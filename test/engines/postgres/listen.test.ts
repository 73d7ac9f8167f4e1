import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/engine/engine-context.ts';
import { listenToMember, memberEndpoints } from '../../../src/engines/postgres/observe/listen.ts';
import { postgresWorld } from '../../support/postgres-situation.ts';
import { postgresSecrets, scriptedPatroni } from '../../support/scripted-patroni.ts';

describe('who is asked now and then', () => {
  it.each<[string, Parameters<typeof postgresWorld>[0], readonly string[]]>([
    ['the primary', { primary: 1 }, ['10.0.0.1']],
    ['any member, where none is labelled primary', { labelled: [] }, ['10.0.0.0']],
    ['none whose pod is being stopped', { pods: { 0: 'stopping' } }, ['10.0.0.1']],
    ['nobody, where no pod runs', { members: { all: 'gone' } }, []],
  ])('is %s', (_, story, addresses) => {
    expect(memberEndpoints(postgresWorld(story).children)).toEqual(addresses);
  });
});

describe('what is news of a member', () => {
  const { cluster, observed } = postgresWorld();
  const secrets = postgresSecrets(cluster, Date.now());
  const primary = {
    state: 'running',
    role: 'primary',
    timeline: 1,
    replication: ['db-1-0', 'db-2-0'].map((name) => ({ application_name: name, state: 'streaming' })),
  };
  const [first] = primary.replication;

  it('is a standby that streams no more, another role, and silence, which ends it; a position in the log is none', async () => {
    let said: object | Error = primary;
    const answer = (): HttpResponse | Error =>
      said instanceof Error ? said : { status: 200, body: JSON.stringify(said) };
    const { io, clock } = scriptedPatroni(observed, secrets, answer);
    let changes = 0;
    const listening = listenToMember('10.0.0.0', cluster, io, () => {
      changes += 1;
    });
    const heard: number[] = [];
    for (const next of [
      primary,
      { ...primary, xlog: { location: 5000 } },
      { ...primary, replication: [...primary.replication].reverse() },
      { ...primary, replication: [first] },
      { ...primary, replication: [first] },
      { ...primary, role: 'replica', replication: [first] },
    ]) {
      said = next;
      await clock.advance(10_000);
      heard.push(changes);
    }
    expect(heard).toEqual([0, 0, 0, 1, 1, 2]);
    said = new Error('connect ECONNREFUSED');
    const ended = expect(listening).rejects.toThrow('ECONNREFUSED');
    await clock.advance(10_000);
    await ended;
    expect(changes).toBe(3);
  });

  it('is nothing of a member that has never answered', async () => {
    const { io } = scriptedPatroni(observed, secrets, () => new Error('connect ECONNREFUSED'));
    let changes = 0;
    const listening = listenToMember('10.0.0.0', cluster, io, () => {
      changes += 1;
    });
    await expect(listening).rejects.toThrow('ECONNREFUSED');
    expect(changes).toBe(0);
  });
});
