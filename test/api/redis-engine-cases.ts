/** RedisClusters of either engine: versions, directives, and changes from one to the other. */
import type { Case } from './case.ts';

const redis = (version: string): { engine: string; version: string } => ({ engine: 'Redis', version });
const valkey = (version: string): { engine: string; version: string } => ({ engine: 'Valkey', version });

/** A good value of each directive that one of the two does not know, or not in every version. */
const limited: Readonly<Record<string, unknown>> = {
  'commandlog-request-larger-than': 10,
  'commandlog-large-request-max-len': 10,
  'commandlog-reply-larger-than': 10,
  'commandlog-large-reply-max-len': 10,
};

const unknown: readonly Case[] = Object.entries(limited).flatMap(([name, value]) =>
  [redis('8.2'), valkey('8.0')].map((server) => ({
    story: `${name} in ${server.engine} ${server.version}`,
    spec: { ...server, config: { [name]: value } },
    refused: 'spec',
  })),
);

const created: readonly Case[] = [
  { story: 'Redis by name', spec: redis('8.2') },
  { story: 'the first Valkey', spec: valkey('7.2') },
  { story: 'Valkey without a version', spec: { engine: 'Valkey' } },
  { story: 'the latest Valkey', spec: valkey('9.1') },
  { story: 'a directive of Valkey', spec: { ...valkey('8.1'), config: { 'commandlog-reply-larger-than': 10 } } },
  {
    story: 'a directive that came with Redis 7.2, in the first Valkey',
    spec: { ...valkey('7.2'), config: { 'set-max-listpack-value': 32 } },
  },
  { story: 'dynamic-hz in Valkey 8.0', spec: { ...valkey('8.0'), config: { 'dynamic-hz': false } } },

  { story: 'an unknown engine', spec: { engine: 'KeyDB' }, refused: 'spec.engine' },
  { story: 'an engine in small letters', spec: { engine: 'valkey' }, refused: 'spec.engine' },
  { story: 'Redis 9', spec: { version: '9.0' }, refused: 'spec.version' },
  { story: 'Valkey before 7.2', spec: valkey('7.0'), refused: 'spec.version' },
  { story: 'Valkey of a version that only Redis has', spec: valkey('7.4'), refused: 'spec.version' },
  { story: 'Valkey 10', spec: valkey('10.0'), refused: 'spec.version' },
  {
    story: 'a directive that Valkey 8.1 has dropped',
    spec: { ...valkey('8.1'), config: { 'dynamic-hz': false } },
    refused: 'spec',
  },
];

const changed: readonly Case[] = [
  { story: 'from Redis 7.0 to Valkey 8.1', old: redis('7.0'), spec: valkey('8.1') },
  { story: 'from Redis 7.2 to Valkey 7.2', old: { version: '7.2' }, spec: valkey('7.2') },
  { story: 'from Valkey 8.1 to 9.1', old: valkey('8.1'), spec: valkey('9.1') },
  {
    story: 'from Redis to Valkey, where Redis 7.2 runs',
    old: redis('7.2'),
    status: { version: '7.2.5' },
    spec: valkey('8.1'),
  },
  { story: 'Redis, said', old: {}, spec: { engine: 'Redis' } },
  {
    story: 'another change where Valkey runs',
    old: valkey('9.0'),
    status: { version: '9.0.1' },
    spec: { ...valkey('9.0'), replicas: 5 },
  },

  { story: 'from Redis 7.4 to Valkey 8.1', old: redis('7.4'), spec: valkey('8.1'), refused: 'spec.engine' },
  { story: 'from Redis 8.0 to Valkey 8.1', old: {}, spec: valkey('8.1'), refused: 'spec.engine' },
  { story: 'from Redis 8.0 to Valkey 9.1', old: {}, spec: valkey('9.1'), refused: 'spec.engine' },
  {
    story: 'from Redis 7.2 to Valkey, where an image runs 8.0',
    old: { version: '7.2', image: 'mine.example/redis:8.0.2' },
    status: { version: '8.0.2' },
    spec: valkey('8.1'),
    refused: 'spec.engine',
  },
  { story: 'from Valkey to Redis of the same version', old: valkey('8.0'), spec: redis('8.0'), refused: 'spec.engine' },
  { story: 'from Valkey to a later Redis', old: valkey('7.2'), spec: redis('8.0'), refused: 'spec.engine' },
  { story: 'an engine that is left out again', old: valkey('8.0'), spec: {}, refused: 'spec.engine' },
  { story: 'modules, in a new cluster', spec: { modules: 'Bundled' } },
  { story: 'modules of a cluster that had none', old: {}, spec: { modules: 'Bundled' } },
  { story: 'modules by name', spec: { modules: 'search' }, refused: 'spec.modules' },
  { story: 'modules no longer', old: { modules: 'Bundled' }, spec: { modules: 'None' }, refused: 'spec.modules' },
  { story: 'modules left out again', old: { modules: 'Bundled' }, spec: {}, refused: 'spec.modules' },
  {
    story: 'from Redis with modules to Valkey',
    old: { version: '7.2', modules: 'Bundled' },
    spec: { ...valkey('8.1'), modules: 'Bundled' },
    refused: 'spec.engine',
  },
  { story: 'to Valkey and modules at once', old: { version: '7.2' }, spec: { ...valkey('8.1'), modules: 'Bundled' } },
  { story: 'two majors up and Valkey', old: redis('7.2'), spec: valkey('9.1'), refused: 'spec.version' },
  { story: 'Valkey of a lower version', old: redis('7.10'), spec: valkey('7.2'), refused: 'spec.version' },
  { story: 'a downgrade of Valkey', old: valkey('9.1'), spec: valkey('8.1'), refused: 'spec.version' },
];

export const engineCases: readonly Case[] = [...created, ...unknown, ...changed];
