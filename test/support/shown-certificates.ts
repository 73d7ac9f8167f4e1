/** Members that show a copy of somebody's certificate: their files, what they have read of them, and the Secrets. */
import { X509Certificate } from 'node:crypto';
import type { ClusterStatus } from '../../src/api/status.ts';
import { type Issued, makeAuthority, makeLeaf } from '../../src/certificates/certificate.ts';
import type { Values } from '../../src/certificates/facts.ts';
import { issued, sourceOf } from '../../src/certificates/issue.ts';
import type { EngineContext } from '../../src/engine/engine-context.ts';
import type { PostgresSpecInput } from '../../src/engines/postgres/kind/schema.ts';
import { serverCasAnnotation } from '../../src/engines/postgres/names.ts';
import { observeShown } from '../../src/engines/postgres/observe/shown-certificate.ts';
import { type Situation, situationOf } from '../../src/engines/postgres/observe/situation.ts';
import { casDigest } from '../../src/engines/postgres/resources/shown-certificate.ts';
import type { Step } from '../../src/plan/plan.ts';
import type { Secrets } from './issued-secrets.ts';
import { certificatesSeen } from './postgres-certificates.ts';
import { postgresCluster, postgresWorld, type Story } from './postgres-situation.ts';
import { postgresSecrets } from './scripted-patroni.ts';

const dayMs = 86_400_000;
/** TLS asks the clock of the machine. */
const start = Date.now();
const life = { from: start - dayMs, to: start + 30 * dayMs };

export const source = 'shop-db-tls';
export const fromSecret: PostgresSpecInput = { tls: { server: { secretRef: { name: source } } } };
export const ofOperator: PostgresSpecInput = { tls: { server: { selfManaged: {} } } };

export const company = (name = 'shop'): Issued => makeAuthority(name, life);

/** As somebody brings it. */
export function brought(
  ca: Issued,
  lasts = life,
  names: readonly string[] = ['db-primary.apps.svc', 'db-replicas.apps.svc'],
): Values {
  const leaf = makeLeaf({ organisation: 'shop', names, usages: ['server'] }, lasts, ca);
  return { 'ca.crt': ca.certificate, 'tls.crt': leaf.certificate, 'tls.key': leaf.key };
}

export const fingerprintOf = (values: Values = {}): string =>
  values['tls.crt'] === undefined ? '' : new X509Certificate(values['tls.crt']).fingerprint256;

interface Member {
  /** The files that the kubelet has brought. */
  files: Values;
  /** What the server read of them last. */
  shows: Values;
  /** What its pod says. */
  cas?: string | undefined;
}

export interface Shown {
  readonly secrets: Secrets;
  readonly members: readonly Member[];
  at: number;
  spec: PostgresSpecInput;
  /** The kubelet of a member brings the copy as it is. */
  deliver(index: number): void;
  /** The server reads its files, and the pod says so. */
  read(index: number): void;
  situation(story?: Story): Promise<Situation>;
  /** Carries out what is made of Secrets, and reloads. Returns it in words. */
  carryOut(steps: readonly Step[]): string[];
}

const isCount = (count: number): count is 1 | 2 | 3 => count >= 1 && count <= 3;

/** Of `count` members that run. `copy`: what they have. */
export function shownBy(count: number, spec: PostgresSpecInput, copy?: Values): Shown {
  const secrets = postgresSecrets(postgresCluster(spec), start);
  if (copy !== undefined) secrets['db-shown-tls'] = copy;
  const files = copy ?? {};
  const cas = copy === undefined ? undefined : casDigest(copy['ca.crt'] ?? '');
  const shown: Shown = {
    secrets,
    members: Array.from({ length: count }, () => ({ files, shows: files, cas })),
    at: start,
    spec,
    deliver(index) {
      const member = shown.members[index];
      if (member !== undefined) member.files = secrets['db-shown-tls'] ?? {};
    },
    read(index) {
      const member = shown.members[index];
      if (member === undefined) return;
      member.shows = member.files;
      member.cas = casDigest(member.files['ca.crt'] ?? '');
    },
    async situation(story = {}) {
      const cluster = postgresCluster(shown.spec);
      const io = { secret: (name: string) => Promise.resolve(secrets[name]), now: () => shown.at };
      const seen = await observeShown(cluster, io as unknown as EngineContext);
      const { observed } = postgresWorld({ spec: shown.spec });
      const said = observed.members.map((member, index) =>
        member.state === 'answering' && member.server?.state === 'seen'
          ? { server: { ...member.server, shown: fingerprintOf(shown.members[index]?.shows) } }
          : {},
      );
      const status: ClusterStatus = { initialized: true };
      const world = postgresWorld({
        status,
        ...story,
        spec: { ...(isCount(count) ? { instances: count } : {}), ...shown.spec, ...story.spec },
        members: { ...(story.members?.all === 'gone' ? {} : Object.fromEntries(said.entries())), ...story.members },
        children: (objects) => {
          const told = objects.map((object) => {
            const index = object.kind === 'Pod' ? /^db-(\d+)-0$/.exec(object.metadata.name)?.[1] : undefined;
            const digest = index === undefined ? undefined : shown.members[Number(index)]?.cas;
            if (digest === undefined) return object;
            const annotations = { ...object.metadata.annotations, [serverCasAnnotation]: digest };
            return { ...object, metadata: { ...object.metadata, annotations } };
          });
          return story.children?.(told) ?? told;
        },
        observed: {
          at: shown.at,
          certificates: certificatesSeen(cluster, shown.at),
          ...(seen === undefined ? {} : { shown: seen }),
          ...story.observed,
        },
      });
      return situationOf(world.cluster, world.children, world.observed);
    },
    carryOut(steps) {
      return steps.flatMap((step) => {
        if (step.type === 'issue' && step.object.metadata.name === 'db-shown-tls') {
          const { issue } = step;
          const material = { own: secrets['db-shown-tls'], source: secrets[sourceOf(issue) ?? ''] };
          secrets['db-shown-tls'] = issued(issue, material, shown.at);
          return issue.what === 'copy' ? [`copy ${issue.part} of ${issue.from}`] : [];
        }
        if (step.type !== 'act') return [];
        const { action } = step as unknown as { readonly action: { readonly member?: { readonly pod: string } } };
        const index = Number(/^db-(\d+)-0$/.exec(action.member?.pod ?? '')?.[1] ?? Number.NaN);
        shown.read(index);
        return [`reload ${action.member?.pod}`];
      });
    },
  };
  return shown;
}
