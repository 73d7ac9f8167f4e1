/**
 * The conversations that the simulation is held to, with real Patroni and PostgreSQL out of the sandbox's images. By default the essential
 * ones with one version; all of them with every version where `CLUSTERWRIGHT_ALL_VERSIONS=1` asks for it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conversations, play } from '../../faults/postgres/conformance/conversations.ts';
import { realStage } from '../../faults/postgres/conformance/real-stage.ts';
import { postgresPrograms } from '../../support/postgres-program.ts';

const all = process.env.CLUSTERWRIGHT_ALL_VERSIONS === '1';
// The images with Patroni have it; a root directory of a server alone does not.
const programs = [...postgresPrograms].filter(
  ([major, { root }]) => existsSync(join(root, 'usr/bin/patroni')) && (all || major === '17'),
);

describe.skipIf(programs.length === 0).each(programs)('PostgreSQL %s under Patroni', (major, program) => {
  // Every conversation has a network of its own.
  const second = Number(major) + 60;
  const played = [...conversations.entries()].filter(([, { isEssential }]) => all || isEssential === true);
  it.concurrent.each(played.map(([n, row]) => [row.story, row, n] as const))(
    '%s',
    async (_, row, n) => {
      expect(await play(row, (spec) => realStage(program, `${second}.${n}`, spec))).toEqual(row.yields);
    },
    600_000,
  );
});
