/** Who waits for the lease: when it may be taken, and what does not end the waiting. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/object.ts';
import { Contender, contest, duel, leaseOf } from '../support/lease-contest.ts';

describe('the lease', () => {
  it('who is refused the lease because another wrote first does not lead, and goes on trying', async () => {
    const { clock, server } = contest();
    const create = server.create.bind(server);
    server.create = (lease) => {
      create({ ...lease, spec: { ...(lease.spec as object), holderIdentity: 'faster' } } as KubeObject);
      return create(lease);
    };
    const late = new Contender('late', server, clock);
    await clock.advance(100);
    expect([server.holder, late.leads, late.signal, late.warnings]).toEqual(['faster', false, undefined, []]);
    // The faster one never renews: the late one has gone on trying.
    await clock.advance(20_000);
    expect([server.holder, late.leads]).toEqual(['late', true]);
  });

  it.each([
    ['longer', 20, 20_000],
    // Its own fifteen seconds, and the next attempt after them.
    ['shorter', 1, 16_000],
  ])("another holder's %s duration of %i s: the longer one of both is waited for", async (_, seconds, ms) => {
    const { clock, server } = contest();
    server.create(leaseOf('x', seconds));
    const late = new Contender('late', server, clock);
    await clock.advance(ms - 1);
    expect([server.holder, late.leads]).toEqual(['x', false]);
    await clock.advance(1);
    expect([server.holder, late.leads]).toEqual(['late', true]);
  });

  it('who was given the lease without having heard the answer leads at the next attempt', async () => {
    const { clock, server } = contest();
    server.create(leaseOf('a', 15));
    const a = new Contender('a', server, clock);
    await clock.advance(100);
    expect([a.leads, server.lease?.spec.leaseTransitions]).toEqual([true, 0]);
  });

  it.each(['down', 'deaf'] as const)('who cannot reach the server at first (%s) goes on trying', async (network) => {
    const { clock, server } = contest();
    const a = new Contender('a', server, clock);
    a.process.network = network;
    a.stop.abort(new Error('over'));
    await clock.advance(1000);
    const b = new Contender('b', server, clock);
    b.process.network = network;
    await clock.advance(2000);
    b.process.network = 'up';
    await clock.advance(8000);
    expect([b.leads, await a.outcome, a.signal]).toEqual([true, 'released', undefined]);
  });

  it('who waits does not begin to wait anew after a read that failed', async () => {
    const { clock, a, b } = await duel();
    a.process.freeze();
    await clock.advance(8000);
    b.process.network = 'down';
    await clock.advance(2000);
    b.process.network = 'up';
    await clock.advance(7000);
    expect(b.leads).toBe(true);
  });

  it('a lease that somebody deleted is given up, and made anew', async () => {
    const { clock, server, a, b } = await duel();
    b.stop.abort(new Error('over'));
    server.lease = undefined;
    await clock.advance(2000);
    expect([a.leads, await a.outcome]).toEqual([false, 'lost']);
    expect(a.signal?.reason).toMatchObject({ message: 'the lease ops/controller is lost: it is held by nobody' });
    a.run(async () => undefined);
    await clock.advance(100);
    expect([a.leads, server.holder]).toEqual([true, 'a']);
  });

  it('who waits for a lease that is then deleted makes it', async () => {
    const { clock, server, a, b } = await duel();
    a.process.freeze();
    server.lease = undefined;
    await clock.advance(18_000);
    expect([b.leads, server.holder]).toEqual([true, 'b']);
  });

  it('who waits for a lease that is deleted waits for as long as its holder may go on writing', async () => {
    const { clock, server, a, b } = await duel();
    // It renewed its lease a second ago, and hears nothing of the API server from now on.
    a.process.network = 'deaf';
    server.lease = undefined;
    let both = 0;
    for (let at = 0; at < 20_000; at += 100) {
      await clock.advance(100);
      if (a.leads && b.leads) both += 100;
    }
    expect([both, a.leads, b.leads, server.holder]).toEqual([0, false, true, 'b']);
  });

  it('who waits asks a little later than every two seconds, so that not all ask at once', async () => {
    const { clock, server } = contest('a');
    const jittered = new Contender('b', server, clock, 1);
    await clock.advance(100);
    server.seize('');
    await clock.advance(2299);
    server.seize('');
    expect(jittered.leads).toBe(false);
    await clock.advance(1);
    expect(jittered.leads).toBe(true);
  });
});
