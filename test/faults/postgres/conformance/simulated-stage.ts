/** The stage with simulated members: time passes as fast as the conversation goes. */
import type { PostgresSpecInput } from '../../../../src/engines/postgres/kind/schema.ts';
import { paths, patroniPort, podName, postgresNames, roleLabel } from '../../../../src/engines/postgres/names.ts';
import { exchangeOver } from '../../../../src/runtime/http-exchange.ts';
import { sleep } from '../../../../src/system/clock.ts';
import { seeded } from '../../world/random.ts';
import { simulatedNetwork } from '../../world/simulated-network.ts';
import { virtualTime } from '../../world/time.ts';
import type { RunningProgram, Volume } from '../../world/workload.ts';
import { simulatedPostgres } from '../images.ts';
import { clientOf } from './client.ts';
import { namespace, placeOf, scope } from './place.ts';
import { type End, type Stage, writeMs } from './stage.ts';

const limitMs = 90_000;
const asker = '127.0.0.254';

export async function simulatedStage(major: number, spec: PostgresSpecInput): Promise<Stage> {
  const time = virtualTime();
  const random = seeded(1);
  const network = simulatedNetwork(time, random);
  const place = placeOf({ ...spec, version: String(major) as '17' }, time, network);
  const { images, processes, join } = simulatedPostgres();
  join({ time, network, kubernetes: place.kubernetes, namespace, cluster: scope });
  const volumes = new Map<number, Volume>();
  const running = new Map<number, RunningProgram>();
  const ends = new Map<number, End>();
  const address = (member: number): string => `127.1.1.${10 + member}`;

  const during = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    if (!(await time.advanceUntil(() => isOver, 120_000))) throw new Error('no answer within two minutes');
    return work;
  };
  /** Keys are derived from passwords on threads, in real time. */
  const meanwhile = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) {
      await time.advance(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return work;
  };
  await during(place.ready());
  const client = clientOf(
    {
      dial: (host, port, signal) => network.dial(asker, host, port, signal),
      sleep: (ms, signal) => sleep(time, ms, signal),
    },
    address,
  );
  const server = (member: number) => processes.at(address(member))?.server;

  return {
    async start(member, how = 'join') {
      ends.delete(member);
      const volume = volumes.get(member) ?? new Map<string, unknown>();
      volumes.set(member, volume);
      const program = images(`clusterwright-postgres:${major}`);
      if (program === undefined) throw new Error('there is no such image');
      const files = place.files(member, how);
      const ip = address(member);
      running.set(
        member,
        program({
          ...{ ip, network, time, random },
          pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: podName(scope, member), namespace } },
          command: place.command(),
          env: place.environment(member, ip),
          file: (path) => files.get(path),
          volume: (path) => (path === paths.volume ? volumes.get(member) : undefined),
          leave: () => undefined,
          exit: (code, words = '') => ends.set(member, { code, words }),
        }),
      );
      await time.advance(1);
    },
    async call(member, method, path, body) {
      const giveUp = new AbortController();
      const cancel = time.after(30_000, () => giveUp.abort(new Error('no answer')));
      const asking = exchangeOver((to, port, signal) => network.dial(asker, to, port, signal), {
        ...{ host: address(member), port: patroniPort, method, path, signal: giveUp.signal },
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      return during(
        asking.then(
          ({ status, body: text }) => ({ status, text }),
          () => 'no answer' as const,
        ),
      ).finally(cancel);
    },
    ask: (member, question) => during(client.ask(member, question)),
    tell: (member, sql) => during(client.tell(member, sql)),
    logIn: (...login) => meanwhile(client.logIn(...login)),
    async write(member, key) {
      const running = server(member);
      if (running?.isUp !== true) return false;
      const late = new Promise<boolean>((resolve) => time.after(writeMs, () => resolve(false)));
      return during(Promise.race([running.commit({ what: 'row', key, value: key }), late]));
    },
    async keys(member) {
      const running = server(member);
      return running?.isUp === true ? [...running.data.contents.rows.keys()].sort() : [];
    },
    state: (part) => place.annotations(postgresNames(scope).state[part]),
    async discard(part) {
      const path = `/api/v1/namespaces/${namespace}/configmaps/${postgresNames(scope).state[part]}`;
      await during(place.kubernetes.transport('somebody').request({ method: 'DELETE', path }));
    },
    label: (member) => place.label(member, roleLabel),
    async kill(member) {
      running.get(member)?.kill();
      await time.advance(1);
    },
    async terminate(member) {
      running.get(member)?.terminate();
      await time.advanceUntil(() => ends.has(member), 120_000);
    },
    async wipe(member) {
      volumes.delete(member);
    },
    async ended(member) {
      if (!(await time.advanceUntil(() => ends.has(member), limitMs))) throw new Error(`${member} runs`);
      return ends.get(member) ?? { code: null, words: '' };
    },
    pause: (ms) => time.advance(ms),
    async until(what, holds) {
      const end = time.monotonic() + limitMs;
      while (!(await holds())) {
        if (time.monotonic() > end) throw new Error(`${what}: not within ${limitMs} ms`);
        await time.advance(100);
      }
    },
    close: () => Promise.resolve(),
  };
}
