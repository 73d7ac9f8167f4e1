/** Targets, keys and what a new cluster begins with, wherever in a spec they stand: rows for each such place. */
import type { Case, Json } from './case.ts';

export const s3: Json = { endpoint: 'https://s3.example.com', bucket: 'backups', credentials: 'store' };
export const place: Json = { target: { s3 } };

/** `wrap` puts `{ target, encryption }` where it belongs; `at` is the path of that place. */
export function placeCases(at: string, wrap: (place: Json) => Json): readonly Case[] {
  const row = (story: string, content: Json, refused?: string): Case => ({
    story: `${at}: ${story}`,
    spec: wrap(content),
    ...(refused === undefined ? {} : { refused: refused === '' ? at : `${at}.${refused}` }),
  });
  const within = (field: string | undefined): string | undefined =>
    field === undefined ? undefined : field === '' ? 'target.s3' : `target.s3.${field}`;
  const bucket = (story: string, fields: Json, refused?: string): Case =>
    row(story, { target: { s3: { ...s3, ...fields } } }, within(refused));
  const { credentials: _, ...withoutCredentials } = s3;
  const account = (story: string, fields: Json, refused?: string): Case =>
    row(
      story,
      { target: { s3: { ...withoutCredentials, serviceAccountName: 'backups', ...fields } } },
      within(refused),
    );
  const claim = (story: string, fields: Json, refused?: string): Case =>
    row(story, { target: { claim: fields } }, refused === undefined ? undefined : `target.claim.${refused}`);
  const long = 'a'.repeat(300);
  return [
    bucket('a bucket', {}),
    bucket('everything about a bucket', {
      endpoint: 'http://10.0.0.7:9000',
      bucket: 'a.b-c',
      prefix: 'team-a/db_1',
      region: 'eu-central-1',
      pathStyle: false,
      ca: 'authorities',
      serverSideEncryption: { algorithm: 'aws:kms', kmsKeyId: 'arn:aws:kms:eu-central-1:1234:key/a-b_c' },
    }),
    bucket('the method of the server', { serverSideEncryption: { algorithm: 'AES256' } }),
    bucket('the KMS key of the bucket', { serverSideEncryption: { algorithm: 'aws:kms' } }),
    bucket('a port of five digits', { endpoint: 'https://store.svc:65535' }),
    bucket('the shortest name of a bucket', { bucket: 'abc' }),
    bucket('the longest name of a bucket', { bucket: 'a'.repeat(63) }),
    claim('a claim', { name: 'backups' }),
    claim('a path in a claim', { name: 'backups', path: 'a/b' }),
    row('a key', { ...place, encryption: { secret: 'key' } }),

    row('no target', {}, 'target'),
    row('a target that is none', { target: {} }, 'target'),
    row('two targets', { target: { s3, claim: { name: 'a' } } }, 'target'),
    row('a key without a Secret', { ...place, encryption: {} }, 'encryption.secret'),
    row('a key in a Secret of a bad name', { ...place, encryption: { secret: 'A_B' } }, 'encryption.secret'),
    row('a key in a Secret of a long name', { ...place, encryption: { secret: long } }, 'encryption.secret'),
    ...(['endpoint', 'bucket'] as const).map((field): Case => {
      const { [field]: _, ...rest } = s3;
      return row(`a bucket without ${field}`, { target: { s3: rest } }, `target.s3.${field}`);
    }),
    ...['ftp://a.b', 'https://a.b/c', 'https://user@a.b', 'a.b', 'https://a.b?x', 'https://a.b:0'].map((endpoint) =>
      bucket(`the endpoint ${endpoint}`, { endpoint }, 'endpoint'),
    ),
    bucket('an endpoint that is too long', { endpoint: `https://${long}` }, 'endpoint'),
    ...['A-bucket', 'ab', 'a/b', 'a\nb'].map((name) =>
      bucket(`the bucket ${JSON.stringify(name)}`, { bucket: name }, 'bucket'),
    ),
    bucket('a bucket of a name that is too long', { bucket: 'a'.repeat(64) }, 'bucket'),
    ...['/a', 'a/', '../a', 'a/../b', 'a//b', 'a b'].map((prefix) =>
      bucket(`the prefix ${prefix}`, { prefix }, 'prefix'),
    ),
    bucket('a prefix that is too long', { prefix: long }, 'prefix'),
    bucket('a region with a blank', { region: 'eu west' }, 'region'),
    bucket('a region that is too long', { region: long }, 'region'),
    bucket('a word for a flag', { pathStyle: 'yes' }, 'pathStyle'),
    bucket('a word for a method', { serverSideEncryption: 'AES256' }, 'serverSideEncryption'),
    bucket('no method', { serverSideEncryption: {} }, 'serverSideEncryption.algorithm'),
    bucket('an unknown method', { serverSideEncryption: { algorithm: 'rot13' } }, 'serverSideEncryption.algorithm'),
    bucket(
      'a KMS key for another method',
      { serverSideEncryption: { algorithm: 'AES256', kmsKeyId: 'a' } },
      'serverSideEncryption',
    ),
    ...['', 'a b', 'a'.repeat(2049)].map((kmsKeyId) =>
      bucket(
        `a KMS key ${JSON.stringify(kmsKeyId.slice(0, 5))}`,
        { serverSideEncryption: { algorithm: 'aws:kms', kmsKeyId } },
        'serverSideEncryption.kmsKeyId',
      ),
    ),
    bucket('a number for a method', { serverSideEncryption: { algorithm: 7 } }, 'serverSideEncryption.algorithm'),
    bucket(
      'a number for a KMS key',
      { serverSideEncryption: { algorithm: 'aws:kms', kmsKeyId: 7 } },
      'serverSideEncryption.kmsKeyId',
    ),
    account('a ServiceAccount', {}),
    account('a ServiceAccount with a token for AWS', { webIdentity: {} }),
    account('a ServiceAccount with a token for others', {
      webIdentity: {
        roleArn: 'arn:aws:iam:::role/S3Access',
        endpoint: 'https://sts.minio-operator.svc:4223/sts/apps',
        audience: 'https://minio.example.com/a_b',
      },
    }),
    row('a bucket without credentials', { target: { s3: withoutCredentials } }, 'target.s3'),
    bucket('credentials and a ServiceAccount', { serviceAccountName: 'a' }, ''),
    bucket('a token of nobody', { webIdentity: {} }, ''),
    account('a ServiceAccount of a bad name', { serviceAccountName: 'A_B' }, 'serviceAccountName'),
    account('a ServiceAccount of a long name', { serviceAccountName: long }, 'serviceAccountName'),
    account('a number for a ServiceAccount', { serviceAccountName: 7 }, 'serviceAccountName'),
    account('a word for a token', { webIdentity: 'yes' }, 'webIdentity'),
    ...(
      [
        ['roleArn', 'backups'],
        ['roleArn', `arn:aws:iam::1:role/${'a'.repeat(2048)}`],
        ['roleArn', 7],
        ['endpoint', 'https://a@b'],
        ['endpoint', 'https://a.b/c?d'],
        ['endpoint', `https://a.b/${'c'.repeat(512)}`],
        ['endpoint', 7],
        ['audience', 'a b'],
        ['audience', 'a'.repeat(257)],
        ['audience', 7],
      ] as const
    ).map(([field, value]) =>
      account(
        `the ${field} ${String(value).slice(0, 20)} of a token`,
        { webIdentity: { [field]: value } },
        `webIdentity.${field}`,
      ),
    ),
    ...(['credentials', 'ca'] as const).flatMap((field) => [
      bucket(`${field} of a bad name`, { [field]: 'A_B' }, field),
      bucket(`${field} of a long name`, { [field]: long }, field),
    ]),
    claim('a claim without a name', {}, 'name'),
    claim('a claim of a bad name', { name: 'A_B' }, 'name'),
    claim('a claim of a long name', { name: long }, 'name'),
    claim('a path that leads out', { name: 'a', path: '../b' }, 'path'),
    claim('a path that is too long', { name: 'a', path: long }, 'path'),
  ];
}

/** `backup` and `bootstrap` of a kind of database. */
export const databaseCases: readonly Case[] = [
  ...placeCases('spec.backup', (backup) => ({ backup })),
  ...placeCases('spec.bootstrap.restore', (restore) => ({ bootstrap: { restore } })),
  ...restoreCases(),
  { story: 'a last backup', spec: { deletionPolicy: 'Snapshot', backup: place } },
  { story: 'a last backup to nowhere', spec: { deletionPolicy: 'Snapshot' }, refused: 'spec.backup' },
  { story: 'a target from now on', old: {}, spec: { backup: place } },
  { story: 'a bootstrap from nothing', spec: { bootstrap: {} }, refused: 'spec.bootstrap.restore' },
  {
    story: 'the same bootstrap',
    old: { bootstrap: { restore: place } },
    spec: { bootstrap: { restore: place } },
  },
  {
    story: 'a bootstrap afterwards',
    old: {},
    spec: { bootstrap: { restore: place } },
    refused: 'spec.bootstrap',
  },
  {
    story: 'another bootstrap',
    old: { bootstrap: { restore: place } },
    spec: { bootstrap: { restore: { ...place, encryption: { secret: 'a' } } } },
    refused: 'spec.bootstrap',
  },
];

function restoreCases(): readonly Case[] {
  const row = (story: string, fields: Json, refused?: string): Case => ({
    story: `a restore: ${story}`,
    spec: { bootstrap: { restore: { ...place, ...fields } } },
    ...(refused === undefined ? {} : { refused: `spec.bootstrap.restore.${refused}` }),
  });
  const uid = '0b5b1c7e-5f0e-4a39-9c07-1f6f2d7a3c11';
  return [
    row('one of many', { id: '20261121T120000Z-0123abcd' }),
    row('of a cluster', { cluster: { namespace: 'apps', name: 'db', uid } }),
    row('of no id', { id: 'newest' }, 'id'),
    row('of an id that is too long', { id: '20261121T120000Z-0123abcd0' }, 'id'),
    row('of a bad namespace', { cluster: { namespace: 'a/b' } }, 'cluster.namespace'),
    row('of a long namespace', { cluster: { namespace: 'a'.repeat(64) } }, 'cluster.namespace'),
    row('of a bad name', { cluster: { name: '..' } }, 'cluster.name'),
    row('of a long name', { cluster: { name: 'a'.repeat(41) } }, 'cluster.name'),
    row('of a bad UID', { cluster: { uid: '../a' } }, 'cluster.uid'),
    row('of a long UID', { cluster: { uid: 'a'.repeat(65) } }, 'cluster.uid'),
  ];
}
