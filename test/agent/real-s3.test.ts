/** Backups on a real S3 server. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openTarget } from '../../src/agent/secrets.ts';
import { s3Target } from '../../src/agent/target/s3.ts';
import type { S3Place } from '../../src/backup/place.ts';
import { systemClock } from '../../src/system/clock.ts';
import { agentContext, expectResult, runAgent } from '../support/agent-context.ts';
import { collected, collectedBytes } from '../support/collected.ts';
import { openAuthority } from '../support/etcd-certificates.ts';
import { startRedis } from '../support/redis-process.ts';
import { redisPrograms } from '../support/redis-program.ts';
import { openDoor } from '../support/s3-door.ts';
import { hasS3Server, type S3Server, s3Access, startS3 } from '../support/s3-server.ts';
import { credentialsFor, openSts, type StandInSts } from '../support/stand-in-sts.ts';
import { describeTarget } from '../support/target-suite.ts';

const place = ({ endpoint, bucket }: Pick<S3Server, 'endpoint' | 'bucket'>, more: Partial<S3Place> = {}): S3Place => ({
  type: 's3',
  endpoint,
  bucket,
  region: 'us-east-1',
  prefix: '',
  pathStyle: true,
  accessKeyIdFile: '/never/read',
  secretAccessKeyFile: '/never/read',
  ...more,
});

async function* content(bytes = 1): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= 1 << 20) yield Buffer.alloc(Math.min(left, 1 << 20), 7);
}

describe.skipIf(!hasS3Server)('S3', () => {
  describeTarget('in plain', async () => {
    const server = await startS3();
    return {
      open: (prefix, context) => s3Target(place(server, { prefix }), s3Access, context),
      leftovers: server.files,
      stop: server.stop,
    };
  });

  const servers: S3Server[] = [];
  const serve = async (...options: Parameters<typeof startS3>): Promise<S3Server> => {
    const server = await startS3(...options);
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it('over TLS trusts the given authority, and no other', async () => {
    const authority = openAuthority();
    const stranger = openAuthority();
    const certificates = authority.issue(['127.0.0.1']);
    const server = await serve(certificates);
    const good = s3Target(place(server), { ...s3Access, ca: certificates['ca.crt'] }, agentContext());
    await good.put('a/data', content());
    const { 'ca.crt': ca } = stranger.issue(['127.0.0.1']);
    const bad = s3Target(place(server), { ...s3Access, ca }, agentContext());
    await expect(bad.put('a/data', content())).rejects.toMatchObject({
      reason: 'TargetRefused',
      message: expect.stringMatching(/certificate/),
    });
    authority.close();
    stranger.close();
  });

  describe('refuses', () => {
    const cases: readonly [string, Partial<S3Place>, object, string][] = [
      ['a wrong secret', {}, { secretAccessKey: 'wrong-wrong' }, 'TargetRefused'],
      ['a wrong name', {}, { accessKeyId: 'nobody' }, 'TargetRefused'],
      ['no such bucket', { bucket: 'nowhere' }, {}, 'TargetRefused'],
    ];
    it.each(cases)('%s', async (_, where, who, reason) => {
      const server = await serve();
      const context = agentContext();
      const target = s3Target(place(server, where), { ...s3Access, ...who }, context);
      await expect(target.put('a/data', content())).rejects.toMatchObject({ reason });
      await expect(target.put('a/data', content(20 << 20))).rejects.toMatchObject({ reason });
      await expect(collected(target.list(''))).rejects.toMatchObject({ reason });
      expect(context.lines.join('')).not.toContain(s3Access.secretAccessKey);
    });

    it('a server that is not there, and says that it may come back', async () => {
      const endpoint = 'http://127.0.0.1:1';
      const target = s3Target(place({ endpoint, bucket: 'backups' }), s3Access, agentContext());
      await expect(target.put('a/data', content())).rejects.toMatchObject({ reason: 'TargetUnreachable' });
    });
  });

  describe('behind which a bucket', () => {
    const demands = (headers: IncomingHttpHeaders, method: string): string | undefined =>
      method === 'PUT' && headers['content-md5'] === undefined && headers['x-amz-checksum-sha256'] === undefined
        ? 'InvalidRequest'
        : undefined;
    const refusesAll = (headers: IncomingHttpHeaders, method: string): string | undefined =>
      Object.keys(headers).some((name) => name.startsWith('x-amz-checksum'))
        ? 'NotImplemented'
        : demands(headers, method);
    const refusesParts = (headers: IncomingHttpHeaders, method: string): string | undefined =>
      headers['x-amz-checksum-sha256'] === undefined ? demands(headers, method) : 'InvalidArgument';

    it.each([
      ['has object lock, and refuses what has no checksum', demands],
      ['refuses what has no checksum, and knows Content-MD5 alone', refusesAll],
      ['takes an upload, and refuses the checksum of its parts', refusesParts],
    ])('%s', async (_, refusal) => {
      const server = await serve();
      const door = await openDoor(server.endpoint, refusal);
      const target = s3Target(place({ ...server, endpoint: door.endpoint }), s3Access, agentContext());
      for (const bytes of [0, 5, 20 << 20]) {
        await target.put(`a/${bytes}`, content(bytes));
        const found = await collectedBytes(target.get(`a/${bytes}`));
        expect(found.length).toBe(bytes);
        expect(found.equals(Buffer.alloc(bytes, 7))).toBe(true);
      }
      await target.remove('a/5');
      await door.close();
    });
  });

  it('is told what to encrypt with, in whatever begins an object', async () => {
    const server = await serve();
    const told: unknown[] = [];
    const door = await openDoor(server.endpoint, (headers, method) => {
      const { 'x-amz-server-side-encryption': algorithm, 'x-amz-server-side-encryption-aws-kms-key-id': key } = headers;
      const token = headers['x-amz-security-token'];
      if (method !== 'GET') told.push([method, algorithm, key, token]);
      // It is seen; the server itself would look for the key.
      return 'AccessDenied';
    });
    const serverSideEncryption = { algorithm: 'aws:kms', kmsKeyId: 'arn:aws:kms:eu-1:1:key/a-b' } as const;
    const where = place({ ...server, endpoint: door.endpoint }, { serverSideEncryption });
    const target = s3Target(where, { ...s3Access, sessionToken: 'a-token' }, agentContext());
    for (const bytes of [5, 20 << 20]) {
      await expect(target.put('a/b', content(bytes))).rejects.toMatchObject({ reason: 'TargetRefused' });
    }
    const said = [serverSideEncryption.algorithm, serverSideEncryption.kmsKeyId, 'a-token'];
    expect(told).toEqual([
      ['PUT', ...said],
      ['POST', ...said],
    ]);
    await door.close();
  });

  describe('by the identity of the pod', () => {
    let sts: StandInSts;
    afterEach(() => sts.close());

    async function identified(home: string, seconds: number) {
      // versitygw knows no temporary credentials: it refuses every token.
      sts = await openSts(() => credentialsFor(seconds, { SessionToken: '' }));
      writeFileSync(join(home, 'token'), 'token-of-the-service-account');
      const environment = { AWS_WEB_IDENTITY_TOKEN_FILE: join(home, 'token'), AWS_ENDPOINT_URL_STS: sts.endpoint };
      return agentContext({ environment });
    }

    it('signs with what is renewed in the middle of an upload', async () => {
      const home = mkdtempSync(join(tmpdir(), 'agent-s3-'));
      const server = await serve();
      const { accessKeyIdFile: _a, secretAccessKeyFile: _s, ...where } = place(server);
      // Each is renewed after less than a second.
      const context = await identified(home, 1);
      const target = await openTarget(where, context);
      async function* slow(): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 4; i++) {
          yield* content(9 << 20);
          await new Promise((resolve) => setTimeout(resolve, 400));
        }
      }
      await target.put('a/data', slow());
      expect((await collectedBytes(target.get('a/data'))).length).toBe(36 << 20);
      expect(await collected(target.list(''))).toHaveLength(1);
      await target.remove('a/data');
      expect(sts.asked.length).toBeGreaterThan(2);
      expect(context.lines.join('')).not.toMatch(/token-of-the|session-token|not-to-be-seen/);
      rmSync(home, { recursive: true });
    });

    it('asks for others once where the server takes them for expired', async () => {
      const home = mkdtempSync(join(tmpdir(), 'agent-s3-'));
      const server = await serve();
      let refused = 0;
      const door = await openDoor(server.endpoint, () => (refused++ === 0 ? 'ExpiredToken' : undefined));
      const { accessKeyIdFile: _a, secretAccessKeyFile: _s, ...where } = place({ ...server, endpoint: door.endpoint });
      const target = await openTarget(where, await identified(home, 3600));
      await target.put('a/data', content());
      expect(refused).toBe(2);
      expect(sts.asked).toHaveLength(2);
      await door.close();
      rmSync(home, { recursive: true });
    });
  });

  it('has the object though its answer to the end of the upload was lost, and knows no upload when it is asked again', async () => {
    const server = await serve();
    let completions = 0;
    const isCompletion = (method: string, url: string) => method === 'POST' && url.includes('uploadId=');
    const isLost = (method: string, url: string) => isCompletion(method, url) && ++completions === 1;
    // The server of these tests would say yes again; others know the upload no more.
    const refusal = (_: unknown, method: string, url: string) =>
      completions > 0 && isCompletion(method, url) ? 'NoSuchUpload' : undefined;
    const door = await openDoor(server.endpoint, refusal, isLost);
    const target = s3Target(place({ ...server, endpoint: door.endpoint }), s3Access, agentContext());
    await target.put('a/data', content(20 << 20));
    expect(completions).toBe(1);
    expect((await collectedBytes(target.get('a/data'))).length).toBe(20 << 20);
    await door.close();
  });

  it('that dies in the middle of an upload ends it', async () => {
    const server = await serve();
    const target = s3Target(place(server), s3Access, agentContext());
    async function* dying(): AsyncGenerator<Uint8Array> {
      yield* content(24 << 20);
      server.kill();
      yield* content(24 << 20);
    }
    await expect(target.put('a/data', dying())).rejects.toMatchObject({ reason: 'TargetUnreachable' });
  });

  it('loses uploads that were begun long ago', async () => {
    const server = await serve();
    const context = agentContext();
    const target = s3Target(place(server), s3Access, context);
    // Cut off before it could clean up: the part stays.
    const abandoned = target.put(
      'a/data',
      (async function* () {
        yield* content(20 << 20);
        await new Promise(() => undefined);
      })(),
    );
    abandoned.catch(() => undefined);
    // Both whole parts of 8 MiB: one that is still on its way is written after the upload is gone.
    await expect.poll(() => server.files().length).toBe(2);
    expect(await target.sweep('a', Date.now() - 60_000)).toBe(0);
    expect(await target.sweep('a', Date.now() + 60_000)).toBe(1);
    await expect.poll(() => server.files()).toEqual([]);
  });

  describe.skipIf(redisPrograms.size === 0)('as the place of backups', () => {
    it('holds what the agent takes, gives it back, and says nothing of its secrets', async () => {
      const home = mkdtempSync(join(tmpdir(), 'agent-s3-'));
      const [program] = redisPrograms.values();
      if (program === undefined) throw new Error('there is a program');
      const [server, redis] = await Promise.all([
        serve(),
        startRedis({ program, config: ['enable-debug-command yes'] }),
      ]);
      const file = (name: string, content: string): string => {
        writeFileSync(join(home, name), content);
        return join(home, name);
      };
      // More than one part, and not compressible.
      await redis.command('CONFIG', 'SET', 'rdbcompression', 'no');
      await redis.command('DEBUG', 'POPULATE', '20000', 'key', '1000');
      const common = {
        target: {
          type: 's3',
          endpoint: server.endpoint,
          bucket: server.bucket,
          prefix: 'team-a',
          accessKeyIdFile: file('id', `${s3Access.accessKeyId}\n`),
          secretAccessKeyFile: file('secret', `${s3Access.secretAccessKey}\n`),
          // The Secret has none.
          sessionTokenFile: join(home, 'token'),
        },
        encryptionKeyFile: file('key', Buffer.alloc(32, 1).toString('base64')),
      };
      const take = {
        task: 'take',
        ...common,
        cluster: { namespace: 'apps', kind: 'RedisCluster', name: 'cache', uid: 'uid-1' },
        purpose: { type: 'schedule', name: 'nightly' },
        retention: { count: 1 },
        source: { engine: 'redis', members: [{ host: '127.0.0.1', port: redis.port }] },
      };
      const context = agentContext();
      const { backup } = expectResult(await runAgent(take, context), 'taken');
      expect(context.lines.join('')).not.toContain(s3Access.secretAccessKey);
      expect(server.files()).toEqual([`${backup.folder}/data`, `${backup.folder}/manifest.json`]);
      const clock = { ...systemClock, now: () => systemClock.now() + 1000 };
      const second = expectResult(await runAgent(take, agentContext({ clock })), 'taken');
      expect(second.pruned).toBe(1);
      expect(server.files()).toEqual([`${second.backup.folder}/data`, `${second.backup.folder}/manifest.json`]);
      const volume = join(home, 'volume');
      mkdirSync(volume);
      const destination = { engine: 'redis', directory: volume };
      const which = { uid: 'uid-1' };
      expectResult(await runAgent({ task: 'fetch', ...common, which, destination }), 'fetched');
      expect(readdirSync(volume).sort()).toEqual(['appendonlydir', 'initialised', 'restored-from.json']);

      const dataFile = join(server.directory, second.backup.folder, 'data');
      const data = readFileSync(dataFile);
      data[5_000_000] = (data[5_000_000] ?? 0) ^ 1;
      writeFileSync(dataFile, data);
      expect(await runAgent({ task: 'verify', engine: 'redis', ...common, which })).toMatchObject({
        reason: 'Tampered',
      });
      await redis.stop();
      rmSync(home, { recursive: true });
    });
  });
});
