import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/runtime/api-error.ts';
import { fencedTransport, WriteFenced } from '../../src/runtime/fence.ts';
import { createLeaderElection, LeadershipLost } from '../../src/runtime/lease.ts';
import type { Transport } from '../../src/runtime/transport.ts';
import { Contender, contest, duel } from '../support/lease-contest.ts';
import { LeaseProcess } from '../support/lease-server.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { turn, type VirtualClock } from '../support/virtual-clock.ts';

describe('leader election', () => {
  it('the first takes the lease and renews it every two seconds', async () => {
    const { clock, server, contenders } = contest('a');
    await clock.advance(10_000);
    expect(contenders[0]?.leads).toBe(true);
    expect(server.writes).toBe(6);
    expect(server.lease).toMatchObject({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'controller', namespace: 'ops' },
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2030-01-01T00:00:00.000000Z',
        renewTime: '2030-01-01T00:00:10.000000Z',
        leaseTransitions: 0,
      },
    });
  });

  it('of two that start together one leads', async () => {
    const { clock, contenders } = contest('a', 'b', 'c');
    await clock.advance(30_000);
    expect(contenders.filter(({ leads }) => leads).length).toBe(1);
  });

  it('an orderly end keeps the lease while work drains, then frees it for the next at once', async () => {
    const { clock, server, a, b } = await duel();
    a.drainMs = 20_000;
    a.stop.abort(new Error('SIGTERM'));
    await clock.advance(19_900);
    expect([a.leads, b.leads, a.signal?.aborted, a.lost?.aborted]).toEqual([true, false, true, false]);
    await clock.advance(100);
    expect([await a.outcome, server.holder, a.leads, a.lost?.aborted]).toEqual(['released', '', false, false]);
    expect(a.warnings).toEqual([]);
    await clock.advance(2000);
    expect([b.leads, server.lease?.spec.leaseTransitions]).toEqual([true, 1]);
  });

  it('an end with a write that nobody has answered leaves the lease to run out, as a death would', async () => {
    const { clock, server, a, b } = await duel();
    a.stop.abort(new Error('SIGTERM'));
    a.isAnswered = false;
    await clock.advance(14_000);
    expect([await a.outcome, server.holder, a.leads, b.leads]).toEqual(['released', 'a', false, false]);
    await clock.advance(4000);
    expect(b.leads).toBe(true);
  });

  it('a dead leader is replaced fifteen seconds after its last sign of life', async () => {
    const { clock, a, b } = await duel();
    a.process.freeze();
    await clock.advance(14_000);
    expect(b.leads).toBe(false);
    await clock.advance(4000);
    expect([a.leads, b.leads]).toEqual([false, true]);
  });

  it.each([3_600_000, -3_600_000])('a wall clock that is off by %i ms changes nothing', async (skew) => {
    const { clock, a, b } = await duel();
    b.process.wallSkewMs = skew;
    await clock.advance(60_000);
    expect([a.leads, b.leads]).toEqual([true, false]);
    a.process.freeze();
    await clock.advance(18_000);
    expect(b.leads).toBe(true);
  });

  it.each(['down', 'silent', 'lost-answers'] as const)(
    'with the network %s, the leader gives up before another takes over',
    async (network) => {
      const { clock, a, b } = await duel();
      a.process.network = network;
      await clock.advance(8000);
      expect([a.leads, b.leads]).toEqual([true, false]);
      await clock.advance(2000);
      expect([a.leads, b.leads, a.signal?.aborted]).toEqual([false, false, true]);
      expect(a.signal?.reason).toBeInstanceOf(LeadershipLost);
      expect(a.signal?.reason).toMatchObject({ message: expect.stringContaining('no renewal succeeded within 10 s') });
      expect(await a.outcome).toBe('lost');
      await clock.advance(17_000);
      expect(b.leads).toBe(true);
    },
  );

  it('a renewal whose answer is lost does not cost the lease', async () => {
    const { clock, a, b } = await duel();
    a.process.network = 'lost-answers';
    await clock.advance(2000);
    a.process.network = 'up';
    await clock.advance(60_000);
    expect([a.leads, b.leads, a.signal?.aborted]).toEqual([true, false, false]);
  });

  it('the right to lead counts from when a renewal was sent, however late the answer came', async () => {
    const { clock, server } = contest();
    const a = new Contender('a', server, clock);
    a.process.delayMs = 4000;
    // The read, which is under way already, comes back after 2 s; the claim is sent then and answered at 6 s.
    await clock.advance(5999);
    expect(a.leads).toBe(false);
    await clock.advance(1);
    expect(a.leads).toBe(true);
    a.process.network = 'silent';
    await clock.advance(5999);
    expect([a.leads, a.signal?.aborted]).toEqual([true, false]);
    await clock.advance(1);
    expect([a.leads, a.signal?.aborted]).toEqual([false, true]);
  });

  it('is released also when the last renewal was carried out unnoticed', async () => {
    const { clock, server, a } = await duel();
    await clock.advance(800);
    a.process.network = 'lost-answers';
    await clock.advance(500);
    a.process.network = 'up';
    a.stop.abort(new Error('SIGTERM'));
    await clock.advance(100);
    expect([await a.outcome, server.holder]).toEqual(['released', '']);
  });

  it.each(['silent', 'deaf'] as const)(
    'with a request that is %s to its signal, the work is told in time',
    async (network) => {
      const { clock, a, b } = await duel();
      a.process.network = network;
      await clock.advance(10_000);
      expect([a.leads, b.leads, a.signal?.reason]).toEqual([false, false, expect.any(LeadershipLost)]);
      expect(await Promise.race([a.outcome, turn().then(() => 'runs on')])).toBe('lost');
    },
  );

  it('one connection that hangs leaves time for another attempt', async () => {
    const { clock, a } = await duel();
    a.process.network = 'silent';
    await clock.advance(1000);
    a.process.network = 'up';
    await clock.advance(30_000);
    expect(a.leads).toBe(true);
  });

  it('a lease that somebody seized is given up at the next renewal', async () => {
    const { clock, server, a } = await duel();
    server.seize('x');
    await clock.advance(2000);
    expect([a.leads, await a.outcome]).toEqual([false, 'lost']);
    expect(a.signal?.reason).toMatchObject({ message: 'the lease ops/controller is lost: it is held by x' });
  });

  it('a failure of the work frees the lease and is passed on', async () => {
    const { clock, server, contenders } = contest();
    const a = new Contender('a', server, clock);
    await clock.advance(100);
    a.stop.abort(new Error('over'));
    await clock.advance(100);
    await a.outcome;
    const failing = createLeaderElection({
      client: a.process.client,
      namespace: 'ops',
      name: 'controller',
      identity: 'f',
      clock,
      random: () => 0,
      log: new RecordingLog(),
    });
    const run = failing.run(new AbortController().signal, () => Promise.reject(new Error('the work broke')));
    run.catch(() => undefined);
    await clock.advance(100);
    await expect(run).rejects.toThrow('the work broke');
    expect([server.holder, contenders]).toEqual(['', []]);
  });

  it.each([
    ['refuses it', 500, 1],
    ['says each time that it has changed', 409, 2],
  ])('a release is tried no more than twice: the server %s', async (_, status, tries) => {
    const { clock, server, a } = await duel();
    let count = 0;
    server.replace = () => {
      count++;
      throw new ApiError({ status, reason: 'X', message: 'no', method: 'PUT', path: '/lease' });
    };
    a.stop.abort(new Error('over'));
    await clock.advance(100);
    expect([await a.outcome, server.holder, count]).toEqual(['released', 'a', tries]);
    expect(a.warnings).toEqual(['the lease could not be released and will run out']);
  });

  it('a lease that another has seized is not freed', async () => {
    const { clock, server, a } = await duel();
    server.seize('x');
    a.stop.abort(new Error('over'));
    await clock.advance(100);
    expect([await a.outcome, server.holder]).toEqual(['released', 'x']);
  });

  it('no timer and no listener of a renewal is left behind', async () => {
    const { clock, a } = await duel();
    await clock.advance(20_000);
    // The next renewal and the end of its right to lead; the next attempt of the one that waits.
    expect([a.leads, clock.pending.length]).toEqual([true, 3]);
    a.stop.abort(new Error('over'));
    await clock.advance(100);
    expect([await a.outcome, clock.pending.length]).toEqual(['released', 1]);
  });

  it.each([
    ['renew deadline', { renewDeadlineMs: 15_000 }, 'renew deadline 15000 ms < lease duration 15000 ms'],
    ['retry period', { retryPeriodMs: 10_000 }, 'retry period 10000 ms < renew deadline 10000 ms'],
  ])('a %s that would allow two leaders is refused', (_, durations, message) => {
    const { clock, server } = contest();
    const process = new LeaseProcess(clock, server);
    const options = {
      client: process.client,
      namespace: 'n',
      name: 'l',
      identity: 'i',
      clock,
      random: () => 0,
      log: new RecordingLog(),
    };
    expect(() => createLeaderElection({ ...options, ...durations })).toThrow(message);
  });
});

describe('a leader that was stopped and continues', () => {
  it('has no right any more at the very millisecond at which its deadline ends', async () => {
    const { clock, a } = await duel();
    a.process.freeze();
    await clock.advance(8899);
    expect(a.leads).toBe(true);
    await clock.advance(1);
    expect(a.leads).toBe(false);
  });

  it('does not get one more write out, though no timer has fired yet', async () => {
    const { clock, a, b } = await duel();
    const sent: string[] = [];
    const wire: Transport = {
      request: async ({ method }) => {
        sent.push(method);
        return { status: 200, headers: {}, body: '{}' };
      },
      stream: () => Promise.reject(new Error('not used')),
      close: () => Promise.resolve(),
    };
    const fenced = fencedTransport(wire, () => a.election.isLeader());
    await fenced.request({ method: 'POST', path: '/x' });
    a.process.freeze();
    await clock.advance(18_000);
    expect(b.leads).toBe(true);
    await expect(fenced.request({ method: 'PATCH', path: '/x' })).rejects.toThrow(WriteFenced);
    await fenced.request({ method: 'GET', path: '/x' });
    // It changes nothing, whoever leads.
    await fenced.request({ method: 'POST', path: '/x', query: { dryRun: 'All' } });
    expect(sent).toEqual(['POST', 'GET', 'POST']);
    a.process.thaw();
    await turn();
    expect(a.signal?.aborted).toBe(true);
  });
});

describe('whatever happens to the processes and their networks', () => {
  const who = fc.nat(2);
  type Step = (contenders: readonly Contender[], clock: VirtualClock) => Promise<void> | void;
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.tuple(who, fc.constantFrom('up', 'up', 'down', 'lost-answers', 'silent')).map(
      ([i, network]): Step =>
        (all) => {
          const contender = all[i];
          if (contender !== undefined) contender.process.network = network as 'up';
        },
    ),
    fc.tuple(who, fc.nat(9000)).map(
      ([i, ms]): Step =>
        (all) => {
          const contender = all[i];
          if (contender !== undefined) contender.process.delayMs = ms;
        },
    ),
    who.map(
      (i): Step =>
        (all) =>
          all[i]?.process.freeze(),
    ),
    who.map(
      (i): Step =>
        (all) =>
          all[i]?.process.thaw(),
    ),
  );

  it('there are never two leaders, and when all is well again there is one', async () => {
    const plan = fc.array(fc.tuple(step, fc.integer({ min: 1, max: 20 })), {
      minLength: 5,
      maxLength: 25,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const { clock, contenders } = contest('a', 'b', 'c');
        const watch = async (seconds: number): Promise<void> => {
          for (let i = 0; i < seconds; i++) {
            await clock.advance(1000);
            expect(contenders.filter(({ leads }) => leads).length).toBeLessThanOrEqual(1);
            for (const contender of contenders) restartIfLost(contender);
          }
        };
        for (const [act, seconds] of steps) {
          await act(contenders, clock);
          await watch(seconds);
        }
        for (const { process } of contenders) {
          process.network = 'up';
          process.delayMs = 0;
          process.thaw();
        }
        await watch(60);
        expect(contenders.filter(({ leads }) => leads).length).toBe(1);
      }),
      { numRuns: 40 },
    );
  });

  function restartIfLost(contender: Contender): void {
    if (contender.signal?.reason instanceof LeadershipLost) {
      contender.signal = undefined;
      contender.run(async () => undefined);
    }
  }
});
