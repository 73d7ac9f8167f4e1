/** The stage with simulated members: time passes as fast as the conversation goes. */
import { exchangeOver } from '../../../../src/runtime/http-exchange.ts';
import { seeded } from '../../world/random.ts';
import { simulatedNetwork } from '../../world/simulated-network.ts';
import { virtualTime } from '../../world/time.ts';
import type { RunningProgram, Volume } from '../../world/workload.ts';
import { programOf } from '../images.ts';
import { Processes } from '../processes.ts';
import { type End, environmentOf, heard, hostNumber, type Stage } from './stage.ts';

export function simulatedStage(version: string): Stage {
  const time = virtualTime();
  const random = seeded(1);
  const network = simulatedNetwork(time, random);
  const processes = new Processes();
  const volumes = new Map<string, Volume>();
  const running = new Map<string, RunningProgram>();
  const ends = new Map<string, End>();
  const address = (member: string): string => `127.1.1.${hostNumber(member)}`;

  const during = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    if (!(await time.advanceUntil(() => isOver, 60_000))) throw new Error('no answer within a minute');
    return work;
  };

  const stage: Stage = {
    peerUrl: (member) => `http://${address(member)}:2380`,
    async start(member, options) {
      ends.delete(member);
      const volume = volumes.get(member) ?? new Map<string, unknown>();
      volumes.set(member, volume);
      const program = programOf(version, processes);
      running.set(
        member,
        program({
          ...{ ip: address(member), network, time, random },
          pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: member } },
          command: ['etcd'],
          env: { ...environmentOf(stage, member, options), ETCD_DATA_DIR: '/volume/data' },
          file: () => undefined,
          volume: () => volumes.get(member),
          leave: () => undefined,
          exit: (code, words = '') => ends.set(member, { code, words }),
        }),
      );
      await time.advance(1);
    },
    async ask(member, path, body = {}, { token, withinMs = 9_000 } = {}) {
      const giveUp = new AbortController();
      const cancel = time.after(withinMs, () => giveUp.abort(new Error('no answer')));
      const asking = exchangeOver((to, port, signal) => network.dial('127.0.0.254', to, port, signal), {
        host: address(member),
        port: 2379,
        method: 'POST',
        path: `/v3/${path}`,
        body: JSON.stringify(body),
        ...(token === undefined ? {} : { headers: { authorization: token } }),
        signal: giveUp.signal,
      });
      return during(
        asking.then(
          ({ status, body: text }) => heard(status, text),
          () => 'no answer',
        ),
      ).finally(cancel);
    },
    probe: (member, path) =>
      during(
        Promise.race([
          running.get(member)?.get?.(2381, path) ?? Promise.resolve(false),
          new Promise<boolean>((resolve) => time.after(5_000, () => resolve(false))),
        ]),
      ),
    metrics(member) {
      const giveUp = new AbortController();
      const cancel = time.after(5_000, () => giveUp.abort(new Error('no answer')));
      const request = { host: address(member), port: 2381, method: 'GET', path: '/metrics', lines: /^etcd_/ } as const;
      const asking = exchangeOver((to, port, signal) => network.dial('127.0.0.254', to, port, signal), {
        ...request,
        signal: giveUp.signal,
      });
      return during(
        asking.then(
          ({ body }) => body,
          () => undefined,
        ),
      ).finally(cancel);
    },
    async kill(member) {
      running.get(member)?.kill();
      await time.advance(1);
    },
    async terminate(member) {
      running.get(member)?.terminate();
      await time.advanceUntil(() => ends.has(member), 30_000);
    },
    async spoil(member) {
      const found = processes.at(address(member));
      if (found === undefined) throw new Error(`${member} does not run`);
      found.disk.flaw = 'y';
    },
    async wipe(member) {
      volumes.delete(member);
    },
    hasEnded: (member) => ends.has(member),
    async ended(member) {
      if (!(await time.advanceUntil(() => ends.has(member), 60_000))) throw new Error(`${member} runs`);
      return ends.get(member) ?? { code: null, words: '' };
    },
    pause: (ms) => time.advance(ms),
    async until(what, holds) {
      const end = time.monotonic() + 60_000;
      while (!(await holds())) {
        if (time.monotonic() > end) throw new Error(`${what}: not within a minute`);
        await time.advance(50);
      }
    },
    close: () => Promise.resolve(),
  };
  return stage;
}
