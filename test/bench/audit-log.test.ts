import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { besidesWatchesAndLease, openAuditLog, requestOf, sum } from './audit-log.ts';

const event = (verb: string, resource: string, more: object = {}): string =>
  JSON.stringify({
    stage: 'ResponseComplete',
    verb,
    userAgent: 'operator/1.0 (linux)',
    objectRef: { resource },
    ...more,
  });

it.each([
  ['a write', event('create', 'services'), 'create services'],
  [
    'a write to a subresource',
    event('patch', 'x', { objectRef: { resource: 'pods', subresource: 'status' } }),
    'patch pods/status',
  ],
  ['a watch when it begins', event('watch', 'pods', { stage: 'ResponseStarted' }), 'watch pods'],
  ['not a watch when it ends', event('watch', 'pods'), undefined],
  ["not another's request", event('get', 'pods', { userAgent: 'kubectl/1' }), undefined],
  ['not a request without a User-Agent', event('get', 'pods', { userAgent: undefined }), undefined],
  ['a path that is no resource', event('get', '', { objectRef: undefined }), 'get other'],
])('counts %s', (_, line, expected) => {
  expect(requestOf(line, 'operator/')).toBe(expected);
});

it('takes what was added since, and a line that is being written the next time', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'audit-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'audit.log');
  await writeFile(file, `${event('create', 'secrets')}\n`);
  const log = await openAuditLog(file, 'operator/');
  expect(await log.take()).toEqual({});
  const [first, second] = [event('create', 'pods'), event('get', 'pods')];
  await appendFile(file, `${first}\n${first}\n${second.slice(0, 20)}`);
  expect(await log.take()).toEqual({ 'create pods': 2 });
  await appendFile(file, `${second.slice(20)}\n`);
  expect(await log.take()).toEqual({ 'get pods': 1 });
  expect(await log.take()).toEqual({});
});

it('tells what a quiet controller may do from what it may not', () => {
  const counts = { 'watch pods': 7, 'update leases': 30, 'get leases': 1, 'list pods': 2, 'patch pods': 3 };
  expect(besidesWatchesAndLease(counts)).toEqual({ 'list pods': 2, 'patch pods': 3 });
  expect(sum(counts)).toBe(43);
  expect(sum(counts, /^(get|list) /)).toBe(3);
});
