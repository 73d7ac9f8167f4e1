/** Credentials by the identity of the pod: from a stand-in for the token service, which says whatever a test wants. */
import { afterEach, describe, expect, it } from 'vitest';
import { type CredentialSource, renewed, type TemporaryCredentials } from '../../src/agent/target/credentials.ts';
import { platformIdentity, tokenService } from '../../src/agent/target/platform-identity.ts';
import { Failure } from '../../src/engine/driver/failure.ts';
import { agentContext, type TestContext } from '../support/agent-context.ts';
import { s3Access } from '../support/s3-server.ts';
import {
  credentialsFor,
  openSts,
  refusal,
  type StandInSts,
  type StsAnswer,
  sessionToken,
} from '../support/stand-in-sts.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const services: StandInSts[] = [];
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
});

const token = 'token-of-the-service-account';
const read = async (path: string): Promise<string> => `${token}:${path}`;

async function serve(...answers: readonly (StsAnswer | undefined)[]): Promise<StandInSts> {
  const service = await openSts((_, index) => answers[Math.min(index, answers.length - 1)]);
  services.push(service);
  return service;
}

const webIdentity = (endpoint: string, more: object = {}) => ({
  AWS_WEB_IDENTITY_TOKEN_FILE: '/token',
  AWS_ENDPOINT_URL_STS: endpoint,
  AWS_ROLE_ARN: 'arn:aws:iam::1:role/backups',
  ...more,
});

function identityBy(environment: object, idleMs = 5000): { source: CredentialSource; context: TestContext } {
  const context = agentContext({ environment: environment as Record<string, string>, idleMs });
  return { source: platformIdentity({ region: 'eu-central-1' }, undefined, read, context), context };
}

describe('by a token of Kubernetes', () => {
  it('asks for the role, says nothing of it in the log, and keeps what it was given', async () => {
    const service = await serve(credentialsFor(3600));
    const { source, context } = identityBy(webIdentity(service.endpoint));
    expect(await source.current()).toMatchObject({ ...s3Access, sessionToken });
    await source.current();
    expect(service.asked).toEqual([
      {
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: 'arn:aws:iam::1:role/backups',
        RoleSessionName: 'clusterwright',
        WebIdentityToken: `${token}:/token`,
        authorization: '',
      },
    ]);
    context.log.info({ a: sessionToken }, s3Access.secretAccessKey);
    expect(context.lines.join('')).not.toMatch(new RegExp(`${sessionToken}|${s3Access.secretAccessKey}`));
  });

  it('asks once for all that wait, without a role where none is named', async () => {
    const service = await serve(credentialsFor(3600));
    const { source } = identityBy(webIdentity(service.endpoint, { AWS_ROLE_ARN: undefined }));
    await Promise.all([source.current(), source.current(), source.current()]);
    expect(service.asked).toHaveLength(1);
    expect(service.asked[0]).not.toHaveProperty('RoleArn');
  });

  it.each<[string, StsAnswer, string, RegExp]>([
    [
      'a refusal, in its words',
      refusal(403, 'AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity'),
      'TargetRefused',
      /gives no credentials: AccessDenied, Not authorized to perform sts:AssumeRoleWithWebIdentity, status 403$/,
    ],
    [
      'words without end',
      refusal(400, 'X'.repeat(500), `\u0007${'y'.repeat(5000)}`),
      'TargetRefused',
      /: X{64}, .{300}, status 400$/,
    ],
    ['words of several lines', refusal(400, 'X', 'a\r\n\r\nb'), 'TargetRefused', /: X, a b, status 400$/],
    [
      'words in XML',
      refusal(400, 'X', '&quot;a&quot; isn&apos;t &lt;b&gt; &amp;amp;'),
      'TargetRefused',
      /: X, "a" isn't <b> &amp;, /,
    ],
    [
      'no words',
      { status: 404, body: 'a page of something else</Code>' },
      'TargetRefused',
      /gives no credentials: status 404$/,
    ],
    ['half of its words', { status: 403, body: '<Code>Half' }, 'TargetRefused', /gives no credentials: status 403$/],
    ['a request that took too long', { status: 408, body: '' }, 'TargetUnreachable', /status 408$/],
    ['too many requests', { status: 429, body: '' }, 'TargetUnreachable', /status 429$/],
    ['trouble of its own', refusal(500, 'InternalFailure', ''), 'TargetUnreachable', /InternalFailure, status 500/],
    ['trouble with Kubernetes', refusal(400, 'IDPCommunicationError', 'later'), 'TargetUnreachable', /later/],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
      'TargetRefused',
      /status 302/,
    ],
    ['nothing', { body: '' }, 'TargetRefused', /no usable time of expiry/],
    ['no time', credentialsFor(1, { Expiration: 'soon' }), 'TargetRefused', /no usable time/],
    ['a name with a line break', credentialsFor(60, { AccessKeyId: 'a\r\nb' }), 'TargetRefused', /no usable name/],
    [
      'a name that is too long',
      credentialsFor(60, { AccessKeyId: 'x'.repeat(257) }),
      'TargetRefused',
      /no usable name/,
    ],
    [
      'a secret without end',
      credentialsFor(60, { SecretAccessKey: 'x'.repeat(2000) }),
      'TargetRefused',
      /no usable secret/,
    ],
    ['a token with a blank', credentialsFor(60, { SessionToken: 'a b' }), 'TargetRefused', /no usable token/],
    ['more than anybody needs', { body: 'x'.repeat(70_000) }, 'TargetRefused', /more than 65536 bytes/],
  ])('is refused where the service answers with %s', async (_, answer, reason, message) => {
    const service = await serve(answer);
    const { source } = identityBy(webIdentity(service.endpoint));
    await expect(source.current()).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
    expect(service.asked).toHaveLength(1);
  });

  it.each<[string, Readonly<Record<string, string>>, object]>([
    [
      'in XML',
      { SecretAccessKey: 'a&amp;b&lt;c', SessionToken: 'd&gt;e' },
      { secretAccessKey: 'a&b<c', sessionToken: 'd>e' },
    ],
    ['on lines of their own', { AccessKeyId: '\n  id-1\n  ' }, { accessKeyId: 'id-1' }],
    ['of the longest name', { AccessKeyId: 'x'.repeat(256) }, { accessKeyId: 'x'.repeat(256) }],
  ])('takes credentials %s', async (_, fields, expected) => {
    const service = await serve(credentialsFor(3600, fields));
    expect(await identityBy(webIdentity(service.endpoint)).source.current()).toMatchObject(expected);
  });

  it('takes credentials without a token: not every server has one', async () => {
    const { body } = credentialsFor(3600);
    const without = { body: body.replace(/<SessionToken>.*<.SessionToken>/, '') };
    for (const answer of [without, credentialsFor(3600, { SessionToken: '' })]) {
      const service = await serve(answer);
      const found = await identityBy(webIdentity(service.endpoint)).source.current();
      expect(found).toMatchObject(s3Access);
      expect(found).not.toHaveProperty('sessionToken');
    }
  });

  it('takes a variable that is empty for one that is not set', async () => {
    const service = await serve(credentialsFor(3600));
    const empty = { AWS_ROLE_ARN: '', AWS_ROLE_SESSION_NAME: '' };
    await identityBy(webIdentity(service.endpoint, empty)).source.current();
    await identityBy(webIdentity(service.endpoint, { AWS_ROLE_SESSION_NAME: 'mine' })).source.current();
    expect(service.asked.map(({ RoleArn, RoleSessionName }) => [RoleArn, RoleSessionName])).toEqual([
      [undefined, 'clusterwright'],
      ['arn:aws:iam::1:role/backups', 'mine'],
    ]);
    expect(() => identityBy({ AWS_WEB_IDENTITY_TOKEN_FILE: '' })).toThrow(/the platform gives this pod none/);
  });

  it('waits no longer than it is told to, and for nobody who is not there', async () => {
    const silent = await serve(undefined);
    for (const endpoint of [silent.endpoint, 'http://127.0.0.1:1']) {
      await expect(identityBy(webIdentity(endpoint), 50).source.current()).rejects.toMatchObject({
        reason: 'TargetUnreachable',
      });
    }
  });
});

describe('by the agent of a node', () => {
  const given = {
    AccessKeyId: 'id',
    SecretAccessKey: 'the-secret',
    Token: 'the-token',
    Expiration: '2099-01-01T00:00:00Z',
  };
  const container = (url: string) => ({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: url,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/pod-token',
  });

  it('shows the token that the pod was given', async () => {
    const service = await serve({ body: JSON.stringify(given) });
    const { source } = identityBy(container(`${service.endpoint}/v1/credentials`));
    expect(await source.current()).toMatchObject({ accessKeyId: 'id', sessionToken: 'the-token' });
    expect(service.asked).toEqual([{ authorization: `${token}:/pod-token` }]);
  });

  it('shows no token where the pod was given none, and tells nobody what it gets', async () => {
    const service = await serve({ body: JSON.stringify(given) });
    const { source, context } = identityBy({ AWS_CONTAINER_CREDENTIALS_FULL_URI: service.endpoint });
    await source.current();
    expect(service.asked).toEqual([{ authorization: '' }]);
    expect(context.conceal('the-secret, the-token')).toBe('[redacted], [redacted]');
  });

  it.each<[string, StsAnswer, string]>([
    ['a page', { body: '<html>' }, 'TargetRefused'],
    ['a fault', { status: 500, body: '' }, 'TargetUnreachable'],
    ['a request that took too long', { status: 408, body: '' }, 'TargetUnreachable'],
    ['too many requests', { status: 429, body: '' }, 'TargetUnreachable'],
    ['no credentials', { body: '{}' }, 'TargetRefused'],
    ['no JSON', { body: 'null' }, 'TargetRefused'],
    ['a refusal', { status: 403, body: '' }, 'TargetRefused'],
    ['trouble', { status: 503, body: '' }, 'TargetUnreachable'],
  ])('fails where it answers with %s', async (_, answer, reason) => {
    const service = await serve(answer);
    await expect(identityBy(container(service.endpoint)).source.current()).rejects.toMatchObject({ reason });
  });

  it('asks anybody with TLS', async () => {
    const { source } = identityBy(container('https://127.0.0.1:1/'));
    await expect(source.current()).rejects.toMatchObject({ reason: 'TargetUnreachable' });
  });

  it.each(['ftp://127.0.0.1/', 'http://169.254.169.254/', 'http://evil.example/', 'file:///etc/passwd', 'nonsense'])(
    'asks nobody else without TLS: %s',
    async (url) => {
      await expect(identityBy(container(url)).source.current()).rejects.toMatchObject({ reason: 'SecretUnusable' });
    },
  );
});

describe('the service that gives credentials for a token', () => {
  const ca = 'authority of the target';
  it.each<[string, Record<string, string>, string, boolean]>([
    ['is that of AWS in the region of the target', {}, 'https://sts.eu-central-1.amazonaws.com', false],
    ['or of the pod', { AWS_REGION: 'cn-north-1' }, 'https://sts.cn-north-1.amazonaws.com.cn', false],
    ['which an empty variable does not tell', { AWS_REGION: '' }, 'https://sts.eu-central-1.amazonaws.com', false],
    ['and never of another host', { AWS_REGION: 'evil.example/' }, 'https://sts.us-east-1.amazonaws.com', false],
    ['is the one that is named', { AWS_ENDPOINT_URL_STS: 'https://minio:9000' }, 'https://minio:9000', true],
    ['and not where nothing is', { AWS_ENDPOINT_URL_STS: '' }, 'https://sts.eu-central-1.amazonaws.com', false],
    [
      'which only seems to be AWS',
      { AWS_ENDPOINT_URL_STS: 'https://sts.amazonaws.com.example' },
      'https://sts.amazonaws.com.example',
      true,
    ],
  ])('%s', (_, env, endpoint, isBelievedByTarget) => {
    expect(tokenService(env, 'eu-central-1', ca)).toEqual({ endpoint, ca: isBelievedByTarget ? ca : undefined });
  });

  it('has to have an address', () => {
    expect(() => identityBy(webIdentity('nonsense'))).toThrow(/AWS_ENDPOINT_URL_STS is no URL/);
  });
});

it('says what is missing where the platform gives nothing', () => {
  expect(() => identityBy({})).toThrow(/names no credentials, and the platform gives this pod none/);
});

describe('what lasts for a while', () => {
  const rig = () => {
    const clock = new VirtualClock();
    const at = (expiresAt: number): TemporaryCredentials => ({ accessKeyId: 'id', secretAccessKey: 'x', expiresAt });
    const answers: (TemporaryCredentials | Failure)[] = [];
    let asked = 0;
    const source = renewed(
      async () => {
        asked += 1;
        const next = answers.shift() ?? at(clock.now() + 3_600_000);
        if (next instanceof Failure) throw next;
        return next;
      },
      { clock, log: agentContext().log },
    );
    return { clock, source, answers, asked: () => asked };
  };
  const minute = 60_000;

  it('is renewed five minutes before its end, and when the server takes it for expired', async () => {
    const { clock, source, asked } = rig();
    await source.current();
    await clock.advance(54 * minute);
    await source.current();
    expect(asked()).toBe(1);
    await clock.advance(2 * minute);
    await source.current();
    expect(asked()).toBe(2);
    source.forget();
    await source.current();
    expect(asked()).toBe(3);
  });

  it('is renewed in the last quarter of a short life', async () => {
    const { clock, source, answers, asked } = rig();
    answers.push({ accessKeyId: 'id', secretAccessKey: 'x', expiresAt: clock.now() + 8 * minute });
    await source.current();
    await clock.advance(6 * minute - 1);
    await source.current();
    expect(asked()).toBe(1);
    await clock.advance(1);
    await source.current();
    expect(asked()).toBe(2);
  });

  it('is used until ten seconds before its end where nobody answers: a request has to arrive, too', async () => {
    const { clock, source, answers } = rig();
    await source.current();
    const silent = new Failure('TargetUnreachable', 'x');
    answers.push(silent, silent);
    await clock.advance(60 * minute - 10_000);
    await source.current();
    await clock.advance(1);
    await expect(source.current()).rejects.toBe(silent);
  });

  it('goes on with what it has where nobody answers for a moment, and not where it is refused', async () => {
    const { clock, source, answers } = rig();
    await source.current();
    await clock.advance(56 * minute);
    answers.push(
      new Failure('TargetUnreachable', 'x'),
      new Failure('TargetRefused', 'y'),
      new Failure('TargetUnreachable', 'z'),
    );
    await source.current();
    await expect(source.current()).rejects.toMatchObject({ reason: 'TargetRefused' });
    await clock.advance(5 * minute);
    await expect(source.current()).rejects.toMatchObject({ reason: 'TargetUnreachable' });
    await source.current();
  });
});
