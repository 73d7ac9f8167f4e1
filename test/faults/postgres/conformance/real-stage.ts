/** The stage with real Patroni and PostgreSQL: each member has an address of its own on the loopback network, and a volume that it keeps. */
import type { PostgresSpecInput } from '../../../../src/engines/postgres/kind/schema.ts';
import { patroniPort, podName, postgresNames, roleLabel, roles } from '../../../../src/engines/postgres/names.ts';
import { exchangeOver } from '../../../../src/runtime/http-exchange.ts';
import { sleep, systemClock } from '../../../../src/system/clock.ts';
import { dialTcp } from '../../../../src/system/dial.ts';
import { openAuthority } from '../../../support/etcd-certificates.ts';
import type { PostgresProgram } from '../../../support/postgres-program.ts';
import { until } from '../../../support/until.ts';
import { seeded } from '../../world/random.ts';
import { simulatedNetwork } from '../../world/simulated-network.ts';
import { virtualTime } from '../../world/time.ts';
import { clientOf } from './client.ts';
import { namespace, placeOf, scope } from './place.ts';
import { type Home, openMember, type RealMember } from './real-process.ts';
import { serveStore } from './real-store.ts';
import { type Stage, writeMs } from './stage.ts';

const limitMs = 120_000;

/** `network`: of 127/8, the second and third byte that no other stage has. */
export async function realStage(program: PostgresProgram, network: string, spec: PostgresSpecInput): Promise<Stage> {
  const time = virtualTime();
  const place = placeOf({ ...spec, version: String(program.major) as '17' }, time, simulatedNetwork(time, seeded(1)));
  const authority = openAuthority();
  const apiAddress = `127.${network}.2`;
  const certificates = authority.issue([apiAddress]);
  authority.close();
  const store = await serveStore(place.kubernetes, time, certificates, apiAddress);
  await place.ready();
  const homes = new Map<number, Home>();
  const running = new Map<number, RealMember>();
  const address = (member: number): string => `127.${network}.${10 + member}`;
  const io = { dial: dialTcp, sleep: (ms: number, signal?: AbortSignal) => sleep(systemClock, ms, signal) };
  const client = clientOf(io, address);
  const superuser = (member: number, sql: string, ms: number) =>
    client.as(member, roles.superuser, 'postgres', sql, ms);

  const stop = async (member: number, signal: NodeJS.Signals): Promise<void> => {
    running.get(member)?.signal(signal);
    await running.get(member)?.ended;
  };

  return {
    async start(member, how = 'join') {
      const home = homes.get(member) ?? openMember(program);
      homes.set(member, home);
      const ip = address(member);
      running.set(
        member,
        home.start({
          ip,
          command: place.command(),
          environment: place.environment(member, ip),
          files: place.files(member, how),
          api: { address: apiAddress, port: store.port, ca: certificates['ca.crt'], namespace },
        }),
      );
    },
    async call(member, method, path, body) {
      try {
        const { status, body: text } = await exchangeOver(dialTcp, {
          ...{ host: address(member), port: patroniPort, method, path, signal: AbortSignal.timeout(120_000) },
          ...(body === undefined
            ? {}
            : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        });
        return { status, text };
      } catch {
        return 'no answer';
      }
    },
    ask: client.ask,
    tell: client.tell,
    logIn: client.logIn,
    async write(member, key) {
      const made = 'CREATE TABLE IF NOT EXISTS ledger (key text PRIMARY KEY)';
      const outcome = await superuser(member, `${made}; INSERT INTO ledger VALUES ('${key}')`, writeMs);
      return typeof outcome !== 'string';
    },
    async keys(member) {
      const outcome = await superuser(member, 'SELECT key FROM ledger ORDER BY key', writeMs);
      return typeof outcome === 'string' ? [] : (outcome.at(-1)?.rows ?? []).map(([key]) => String(key));
    },
    state: (part) => place.annotations(postgresNames(scope).state[part]),
    async discard(part) {
      const path = `/api/v1/namespaces/${namespace}/configmaps/${postgresNames(scope).state[part]}`;
      await place.kubernetes.transport('somebody').request({ method: 'DELETE', path });
    },
    label: (member) => place.label(member, roleLabel),
    kill: (member) => stop(member, 'SIGKILL'),
    terminate: (member) => stop(member, 'SIGTERM'),
    async wipe(member) {
      homes.get(member)?.wipe();
    },
    async ended(member) {
      const end = await running.get(member)?.ended;
      if (end === undefined) throw new Error(`${podName(scope, member)} has not been started`);
      return end;
    },
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    async until(what, holds) {
      await until(
        what,
        async () => {
          if (!(await holds())) throw new Error('not yet');
        },
        { withinMs: limitMs, everyMs: 100 },
      );
    },
    async close() {
      for (const member of running.keys()) await stop(member, 'SIGKILL');
      await store.close();
      for (const home of homes.values()) home.remove();
    },
  };
}
