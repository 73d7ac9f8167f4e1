import fs from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { createLog, REDACTED } from '../../src/system/log.ts';

function capture(options: object = {}) {
  const lines: string[] = [];
  const log = createLog({ ...options, destination: { write: (line) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

describe('a log line', () => {
  it('is JSON with time, level, message and the fields of the logger and the call', () => {
    const { log, last } = capture({ base: { component: 'controller' } });
    log.child({ cluster: 'apps/redis' }).info({ step: 2 }, 'started');
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      component: 'controller',
      cluster: 'apps/redis',
      step: 2,
      message: 'started',
    });
  });

  it('is out when the call returns', () => {
    const written: unknown[] = [];
    const out = vi.spyOn(fs, 'writeSync').mockImplementation((fd, text) => {
      written.push([fd, text]);
      return Buffer.byteLength(String(text));
    });
    try {
      createLog().info({}, 'the last words');
    } finally {
      out.mockRestore();
    }
    expect(written).toEqual([[1, expect.stringContaining('the last words')]]);
  });

  it('is not written below the level', () => {
    const { log, lines } = capture({ level: 'warn' });
    log.info({}, 'no');
    log.warn({}, 'yes');
    expect(lines.length).toBe(1);
  });

  it('shows an error with its causes, but none of its other fields', () => {
    const { log, last } = capture();
    const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET', request: { authorization: 'Bearer x' } });
    log.error({ err: new Error('failed', { cause }) }, 'broke');
    expect(last().err).toEqual({
      type: 'Error',
      message: 'failed',
      stack: expect.any(String),
      cause: { type: 'Error', message: 'reset', code: 'ECONNRESET', stack: expect.any(String) },
    });
  });
});

describe('a secret', () => {
  const secret = 's3cr3t-v@lue"\n';
  const hidingPlaces: [string, object][] = [
    ['under its name', { password: secret }],
    ['deep below', { a: { b: [{ redisPassword: secret }] } }],
    ['as a token', { headers: { Authorization: `Bearer ${secret}`, token: secret } }],
    ['in the data of a Secret', { object: { kind: 'Secret', metadata: { name: 'x' }, data: { anything: secret } } }],
    ['in the stringData of a Secret', { object: { kind: 'Secret', stringData: { anything: secret } } }],
    ['as configuration', { config: { requirepass: secret, masterauth: secret } }],
    ['as a key', { 'client-key-data': secret, tls: { privateKey: secret } }],
    ['below any depth', { a: { b: { c: { d: { e: { f: { g: { h: { i: secret } } } } } } } } }],
  ];

  it.each(hidingPlaces)('%s does not pass', (_place, fields) => {
    const { log, lines } = capture();
    log.info(fields, 'message');
    log.child({ ...fields }).info({}, 'message');
    expect(lines.join('')).not.toContain('s3cr3t');
    expect(lines.length).toBe(2);
  });

  const unnamed: [string, (log: ReturnType<typeof capture>['log']) => void][] = [
    ['in the message', (log) => log.info({}, `AUTH ${secret}`)],
    ['in a field with a harmless name', (log) => log.info({ argument: `--pass=${secret}` }, 'm')],
    ['in an error', (log) => log.error({ err: new Error(`bad ${secret}`, { cause: new Error(secret) }) }, 'm')],
    ['in a key', (log) => log.info({ [secret]: 1 }, 'm')],
  ];
  it.each(unnamed)('that is known does not pass %s', (_place, write) => {
    const { log, lines } = capture();
    log.protect(secret);
    write(log);
    expect(lines.join('')).not.toContain('s3cr3t');
    expect(lines.join('')).toContain(REDACTED);
    expect(() => JSON.parse(lines[0] ?? '')).not.toThrow();
  });

  it('may be any text: the line stays JSON, and what it says stands', () => {
    const { log, last } = capture();
    for (const value of ['"message":"', '","level":"', 'started']) log.protect(value);
    log.info({ a: 'started at "message":" once' }, 'started');
    expect(last()).toMatchObject({ level: 'info', a: `${REDACTED} at ${REDACTED} once`, message: REDACTED });
  });

  it('forgets those told longest ago where there are too many, and none that is told again', () => {
    const { log, lines } = capture();
    for (let i = 0; i < 20_000; i++) log.protect(`password-${i}.`);
    log.protect('password-0.');
    log.protect('one-too-many');
    log.info({}, 'password-0. password-1. password-2.');
    expect(lines.join('')).toContain(`"${REDACTED} password-1. ${REDACTED}"`);
  });

  it('leaves what is no secret alone', () => {
    const { log, last } = capture();
    log.protect('a');
    log.info({ object: { kind: 'ConfigMap', data: { a: 'b' } }, passes: 3, secretName: 'x' }, 'a message');
    expect(last()).toMatchObject({ object: { data: { a: 'b' } }, passes: 3, secretName: 'x', message: 'a message' });
  });
});
