/**
 * The table of accepted and refused custom resources on a real API server: its verdict and its defaults must be those of
 * `validateCluster`. The CRDs are installed under another group, so that no controller acts on the objects.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customResourceDefinition } from '../../src/api/crd.ts';
import type { KindDefinition } from '../../src/api/kind.ts';
import { canonicalQuantity } from '../../src/api/quantity.ts';
import { validateCluster } from '../../src/api/validate.ts';
import { formerOf, objectOf } from '../api/case.ts';
import { kindCases } from '../api/kind-cases.ts';

const namespace = 'default';
const tables = kindCases.map(({ name, kind, cases }) => {
  const elsewhere: KindDefinition = {
    ...kind,
    resource: { ...kind.resource, group: 'verdicts.clusterwright.dev' },
    shortNames: [],
  };
  const { group, version, plural } = elsewhere.resource;
  return {
    name,
    kind: elsewhere,
    cases,
    crd: customResourceDefinition(elsewhere),
    collection: `/apis/${group}/${version}/namespaces/${namespace}/${plural}`,
  };
});
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

type Json = Readonly<Record<string, unknown>>;
interface Answer {
  readonly status: number;
  readonly body: Json;
}

let proxy: ChildProcess;
let server: string;

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(server + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    body: isJson ? ((await response.json()) as Json) : { message: await response.text() },
  };
}

/** `kubectl proxy` reads any kubeconfig there is, and prints where it listens. */
async function startProxy(): Promise<void> {
  proxy = spawn('kubectl', ['proxy', '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (proxy.stdout === null) throw new Error('kubectl proxy has no output');
  for await (const line of createInterface(proxy.stdout)) {
    const match = /127\.0\.0\.1:\d+/.exec(line);
    if (match !== null) {
      server = `http://${match[0]}`;
      return;
    }
  }
  throw new Error('kubectl proxy ended before it listened');
}

/** Asks until the API server serves the kind: it does a moment after the CRD is Established. */
async function served({ crd, collection }: (typeof tables)[number]): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if ((await call('GET', collection)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { body } = await call('GET', `${crds}/${crd.metadata.name}`);
  throw new Error(`the API server does not serve the CRD: ${JSON.stringify(body.status)}`);
}

beforeAll(async () => {
  await startProxy();
  for (const table of tables) {
    const installed = await call('POST', crds, table.crd);
    expect(installed.body.message).toBeUndefined();
    await served(table);
  }
});

afterAll(async () => {
  for (const { crd } of tables) await call('DELETE', `${crds}/${crd.metadata.name}`);
  proxy.kill();
});

/** Where the API server sees faults: paths as it writes them. */
function faultsOf(answer: Answer): readonly string[] {
  const details = answer.body.details as { readonly causes?: readonly { readonly field?: string }[] } | undefined;
  return (details?.causes ?? []).map((cause) => cause.field ?? '');
}

/** Without what the API server fills in by itself. */
async function statusPut(path: string, object: Json, status: Json): Promise<Answer> {
  return call('PUT', `${path}/status`, { ...object, status });
}

function written(object: Json): Json {
  const { metadata, status: _, ...rest } = object;
  const { name, namespace: ns, labels, annotations } = metadata as Json;
  return JSON.parse(JSON.stringify({ ...rest, metadata: { name, namespace: ns, labels, annotations } })) as Json;
}

describe.each(tables)('the API server says the same of $name', ({ kind, cases, collection }) => {
  test.each(cases)('$story', async (row) => {
    const place = { ...row, metadata: { ...row.metadata, namespace } };
    const object = objectOf(place, row.spec, kind.resource);
    const query = `?dryRun=All&fieldValidation=${row.prunes === true ? 'Ignore' : 'Strict'}`;
    const name = (object.metadata as Json).name;
    let answer: Answer;
    if (row.old === undefined) {
      answer = await call('POST', collection + query, object);
    } else {
      const old = await call('POST', collection, objectOf(place, row.old, kind.resource));
      expect(old.body.message).toBeUndefined();
      const stands = row.status === undefined ? old : await statusPut(`${collection}/${name}`, old.body, row.status);
      expect(stands.body.message).toBeUndefined();
      const { resourceVersion } = stands.body.metadata as Json;
      const next = { ...object, metadata: { ...(object.metadata as Json), resourceVersion } };
      answer = await call('PUT', `${collection}/${name}${query}`, next);
      await call('DELETE', `${collection}/${name}`);
    }

    const offline = validateCluster(kind, object, {
      ...(row.old === undefined ? {} : { old: formerOf(place, kind.resource) }),
      ...(row.prunes === true ? { unknown: 'prune' } : {}),
    });
    const accepted = answer.status < 300;
    expect({ accepted, why: answer.body.message }).toEqual({
      accepted: offline.ok,
      why: offline.ok ? undefined : expect.any(String),
    });
    if (offline.ok) {
      expect(JSON.stringify(sorted(written(answer.body)))).toBe(JSON.stringify(sorted(written(offline.cluster))));
      return;
    }
    // Of a label the API server names the map only; of unknown fields it names no place at all.
    const refused = row.refused ?? '';
    const faults = faultsOf(answer);
    const isNamed = faults.length === 0 || faults.some((at) => at.startsWith(refused) || refused.startsWith(at));
    expect({ faults, isNamed }).toEqual({ faults, isNamed: true });
  });
});

describe('the API server stores a quantity as', () => {
  const amounts = ['1Gi', '1.5Gi', '1024Mi', '1000Mi', '150M', '0.5', '1500m', '1000m', '2', '100000', '1024', '0.5Ki'];

  test.each([...amounts, '0.001Ki', '1.234Mi', '1000k', '1048576Ki', '0.7Gi', '1.1M', '12345678901', '0.001'])(
    '%s',
    async (amount) => {
      const claim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'amount' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: amount } } },
      };
      const { body } = await call('POST', `/api/v1/namespaces/${namespace}/persistentvolumeclaims?dryRun=All`, claim);
      expect((body.spec as { resources?: unknown } | undefined)?.resources).toEqual({
        requests: { storage: canonicalQuantity(amount) },
      });
    },
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  );
}
