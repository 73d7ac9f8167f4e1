import { describe, expect, it } from 'vitest';
import { listenToMember, memberEndpoints } from '../../../src/engines/etcd/observe/listen.ts';
import { etcdWorld } from '../../support/etcd-situation.ts';
import { scriptedEtcd } from '../../support/scripted-etcd.ts';

describe('the ear at a cluster', () => {
  it('is at one member that runs', () => {
    expect(memberEndpoints(etcdWorld({}).children)).toEqual(['10.0.0.0']);
    expect(memberEndpoints(etcdWorld({ members: { 0: 'gone' } }).children)).toEqual(['10.0.0.1']);
    expect(memberEndpoints(etcdWorld({ members: { all: 'gone' } }).children)).toEqual([]);
  });

  it('is at none whose pod is going: that stays as long as its machine is lost', () => {
    const lost = { 0: { terminatingForMs: 3_600_000 } };
    expect(memberEndpoints(etcdWorld({ pods: lost }).children)).toEqual(['10.0.0.1']);
  });

  it('hears another leader once, an alarm as long as it lasts, and that the member has fallen silent, and ends with it', async () => {
    const { cluster, observed } = etcdWorld({});
    let said: object | Error = { leader: '1' };
    const network = scriptedEtcd(observed, () =>
      said instanceof Error ? said : { status: 200, body: JSON.stringify(said) },
    );
    let changes = 0;
    const listening = listenToMember('10.0.0.0', cluster, network.io, () => {
      changes += 1;
    });
    const heard: number[] = [];
    const alarm = ['memberID:1 alarm:NOSPACE '];
    for (const next of [
      said,
      { leader: '1' },
      { leader: '2' },
      { leader: '2', errors: alarm },
      { leader: '2', errors: alarm },
      { leader: '2', errors: [] },
      { leader: '2', errors: [] },
    ]) {
      said = next;
      await network.clock.advance(10_000);
      heard.push(changes);
    }
    expect(heard).toEqual([0, 0, 1, 2, 3, 4, 4]);
    said = new Error('connect ECONNREFUSED');
    const ended = expect(listening).rejects.toThrow('ECONNREFUSED');
    await network.clock.advance(10_000);
    await ended;
    expect(changes).toBe(5);
  });

  it('says nothing of a member that has never answered, nor when the process stops', async () => {
    const { cluster, observed } = etcdWorld({});
    let changes = 0;
    const hear = (network: ReturnType<typeof scriptedEtcd>) =>
      listenToMember('10.0.0.0', cluster, network.io, () => {
        changes += 1;
      });
    await expect(hear(scriptedEtcd(observed, () => new Error('connect ECONNREFUSED')))).rejects.toThrow('ECONNREFUSED');
    const network = scriptedEtcd(observed);
    const listening = expect(hear(network)).rejects.toThrow('stopping');
    await network.clock.advance(5_000);
    network.abort();
    await listening;
    expect(changes).toBe(0);
  });
});
