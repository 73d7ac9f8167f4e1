/** Mounted Secrets: read as people write them, kept out of what is told, and named where they are no use. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keysIn, openTarget } from '../../src/agent/secrets.ts';
import type { S3Place } from '../../src/backup/place.ts';
import { optionalLine, secretLine, tlsFrom } from '../../src/engine/driver/secret-files.ts';
import { agentContext } from '../support/agent-context.ts';
import { collected } from '../support/collected.ts';
import { s3Access } from '../support/s3-server.ts';
import { credentialsFor, openSts, sessionToken } from '../support/stand-in-sts.ts';
import { caCertificate, serverCertificate, serverKey } from '../support/tls.ts';

let home: string;
const ends: (() => void)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(home, { recursive: true });
});

function file(name: string, content: string): string {
  writeFileSync(join(home, name), content);
  return join(home, name);
}

describe('a password', () => {
  it.each(['the-password', 'the-password\n', 'the-password\r\n', 'the-password\nand a remark\n'])(
    'is the first line of %j, and is told to nobody',
    async (content) => {
      const context = agentContext();
      expect(await secretLine(file('password', content), context)).toBe('the-password');
      expect(context.conceal('it is the-password')).toBe('it is [redacted]');
    },
  );

  it('is as it stands there otherwise', async () => {
    expect(await secretLine(file('password', ' a\rb \n'), agentContext())).toBe(' a\rb ');
  });

  it.each(['', '\n', '\r\n', '\nthe-password'])('is none where %j stands', async (content) => {
    const path = file('password', content);
    const refused = { reason: 'SecretUnusable', message: `${path} is empty` };
    await expect(secretLine(path, agentContext())).rejects.toMatchObject(refused);
    await expect(optionalLine(path, agentContext())).rejects.toMatchObject(refused);
  });

  it('that is missing is named in the error, unless the task calls it optional', async () => {
    const path = join(home, 'nowhere');
    const refused = { reason: 'SecretUnusable', message: `${path} cannot be read`, cause: { code: 'ENOENT' } };
    await expect(secretLine(path, agentContext())).rejects.toMatchObject(refused);
    expect(await optionalLine(path, agentContext())).toBeUndefined();
    expect(await optionalLine(undefined, agentContext())).toBeUndefined();
    expect(await optionalLine(file('there', 'token-1'), agentContext())).toBe('token-1');
    // A folder is there, and is no file.
    await expect(optionalLine(home, agentContext())).rejects.toMatchObject({ reason: 'SecretUnusable' });
  });
});

describe('keys of backups', () => {
  const [newer, older] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];

  it('are a line each, and none of them is told to anybody', async () => {
    const context = agentContext();
    const ring = await keysIn(file('key', `${newer}\r\n  ${older}\n`), context);
    expect(ring?.map(({ secret }) => secret[0])).toEqual([1, 2]);
    for (const key of [newer, older]) expect(context.conceal(`<${key}>`)).toBe('<[redacted]>');
  });

  it('are none where no file is named: nothing is encrypted then, and only then', async () => {
    expect(await keysIn(undefined, agentContext())).toBeUndefined();
    await expect(keysIn(join(home, 'nowhere'), agentContext())).rejects.toMatchObject({
      reason: 'SecretUnusable',
      message: expect.stringMatching(/nowhere cannot be read$/),
    });
  });

  it.each(['', '\n\n', 'AAAA\n', `${newer}\nnonsense\n`])(
    'are not to be used where the file holds %j',
    async (content) => {
      const path = file('key', content);
      await expect(keysIn(path, agentContext())).rejects.toMatchObject({
        reason: 'SecretUnusable',
        message: `the encryption key in ${path} is not usable`,
        cause: { name: 'BadKey' },
      });
    },
  );
});

describe('certificates', () => {
  it('are read where they are named', async () => {
    const caFile = file('ca', 'authority');
    expect(await tlsFrom(undefined)).toBeUndefined();
    expect(await tlsFrom({ caFile })).toStrictEqual({ ca: 'authority' });
    const [certFile, keyFile] = [file('crt', 'certificate'), file('key', 'private')];
    expect(await tlsFrom({ caFile, anyName: true })).toStrictEqual({ ca: 'authority', anyName: true });
    expect(await tlsFrom({ caFile, certFile, keyFile, servername: 'db' })).toEqual({
      ca: 'authority',
      cert: 'certificate',
      key: 'private',
      servername: 'db',
    });
    await expect(tlsFrom({ caFile: join(home, 'nowhere') })).rejects.toMatchObject({ reason: 'SecretUnusable' });
  });
});

describe('a target', () => {
  /** A server with an empty bucket, which notes who asks. */
  async function bucket(isSecured = false) {
    const asked: { readonly key: string | undefined; readonly token: unknown }[] = [];
    const answer = ({ headers }: IncomingMessage, response: ServerResponse): void => {
      const key = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1];
      asked.push({ key, token: headers['x-amz-security-token'] });
      response.setHeader('content-type', 'application/xml');
      response.end('<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>');
    };
    const server = isSecured
      ? createTlsServer({ cert: serverCertificate, key: serverKey }, answer)
      : createPlainServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const place: S3Place = {
      type: 's3',
      endpoint: `${isSecured ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
      bucket: 'bucket',
      region: 'us-east-1',
      prefix: '',
      pathStyle: true,
    };
    const files = {
      accessKeyIdFile: file('id', 'id-1\n'),
      secretAccessKeyFile: file('secret', 'secret-of-the-bucket\n'),
    };
    return { asked, place, files };
  }

  async function listed(place: S3Place, context = agentContext()): Promise<unknown> {
    const target = await openTarget(place, context);
    ends.push(() => target.close());
    return await collected(target.list(''));
  }

  it('is a mounted directory', async () => {
    const target = await openTarget({ type: 'claim', directory: home, prefix: 'backups' }, agentContext());
    mkdirSync(join(home, 'backups'));
    file('backups/data', 'x');
    expect(await collected(target.list(''))).toMatchObject([{ key: 'data' }]);
  });

  it('is a bucket that is opened with what the files hold, and with their token where there is one', async () => {
    const { asked, place, files } = await bucket();
    const context = agentContext();
    expect(await listed({ ...place, ...files }, context)).toEqual([]);
    await listed({ ...place, ...files, sessionTokenFile: join(home, 'nowhere') });
    await listed({ ...place, ...files, sessionTokenFile: file('token', 'token-1\n') });
    expect(asked).toEqual([
      { key: 'id-1', token: undefined },
      { key: 'id-1', token: undefined },
      { key: 'id-1', token: 'token-1' },
    ]);
    expect(context.conceal('secret-of-the-bucket')).toBe('[redacted]');
  });

  it('is a bucket that is opened as the platform says, where no files are named, nor half of them', async () => {
    const { asked, place, files } = await bucket();
    const service = await openSts(() => credentialsFor(3600));
    ends.push(() => void service.close());
    const environment = {
      AWS_WEB_IDENTITY_TOKEN_FILE: file('identity', 'token-of-the-pod\n'),
      AWS_ENDPOINT_URL_STS: service.endpoint,
    };
    await listed(place, agentContext({ environment }));
    expect(service.asked).toMatchObject([{ WebIdentityToken: 'token-of-the-pod' }]);
    expect(asked).toEqual([{ key: s3Access.accessKeyId, token: sessionToken }]);
    const { accessKeyIdFile, secretAccessKeyFile } = files;
    for (const half of [{}, { accessKeyIdFile }, { secretAccessKeyFile }]) {
      await expect(listed({ ...place, ...half })).rejects.toMatchObject({
        reason: 'SecretUnusable',
        message: expect.stringMatching(/the platform gives this pod none/),
      });
    }
    expect(asked).toHaveLength(1);
  });

  it('is believed by the authorities that are named, and by the public ones where none are', async () => {
    const { asked, place, files } = await bucket(true);
    await expect(listed({ ...place, ...files })).rejects.toMatchObject({ reason: 'TargetRefused' });
    await expect(listed({ ...place, ...files, caFile: join(home, 'nowhere') })).rejects.toMatchObject({
      reason: 'SecretUnusable',
    });
    expect(asked).toEqual([]);
    expect(await listed({ ...place, ...files, caFile: file('ca', caCertificate) })).toEqual([]);
    expect(asked).toHaveLength(1);
  });
});
