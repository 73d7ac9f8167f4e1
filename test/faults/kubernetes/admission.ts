/** What the API server refuses by itself: objects that their schema does not allow, and changes of what is fixed. */
import { schemaViolations } from '../../../src/api/check.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { prune } from '../../../src/api/prune.ts';
import { compareQuantities } from '../../../src/api/quantity.ts';
import type { StructuralSchema } from '../../../src/api/schema.ts';
import { validateCluster } from '../../../src/api/validate.ts';
import { displayPath } from '../../../src/api/violation.ts';
import { equal, type Fields, fieldsIn, without } from './fields.ts';
import { badRequest, invalid, Refusal } from './refusal.ts';
import type { Served } from './served.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function checkName(served: Served, name: unknown): asserts name is string {
  if (typeof name !== 'string' || name === '') throw badRequest('name or generateName is required');
  if (!subdomain.test(name) || name.length > 253) {
    throw invalid(served.kind, name, 'metadata.name', 'a lowercase RFC 1123 subdomain is required');
  }
}

/** A custom resource as it is stored: pruned, with defaults. The status of a write to the object is not looked at. */
export function admitCustom(
  served: Served,
  object: KubeObject,
  before: KubeObject | undefined,
  isStrict: boolean,
): KubeObject {
  const kind = served.custom;
  if (kind === undefined) return object;
  const { status, ...rest } = object;
  const candidate = rest as KubeObject;
  const { namespace } = object.metadata;
  const old = before === undefined ? {} : { old: before };
  const verdict = validateCluster(kind, candidate, {
    ...old,
    unknown: 'prune',
    ...(namespace === undefined ? {} : { namespace }),
  });
  if (isStrict) {
    const { apiVersion: _, kind: __, metadata: ___, ...content } = candidate;
    const { unknown } = prune(kind.schema, content);
    if (unknown.length > 0) {
      const list = unknown.map((path) => `unknown field "${displayPath(path)}"`).join(', ');
      throw badRequest(`strict decoding error: ${list}`);
    }
  }
  if (!verdict.ok) {
    const causes = verdict.violations.map(({ path, message }) => ({
      reason: 'FieldValueInvalid',
      message,
      field: path,
    }));
    const list = verdict.violations.map(({ path, message }) => `${path}: ${message}`).join(', ');
    throw new Refusal(422, 'Invalid', `${served.kind} "${object.metadata.name}" is invalid: ${list}`, { causes });
  }
  const { spec } = verdict.cluster as unknown as Fields;
  const same = before !== undefined && equal(spec, before.spec) ? before.spec : spec;
  return { ...candidate, ...(same === undefined ? {} : { spec: same }), ...(status === undefined ? {} : { status }) };
}

/** The status of a custom resource as everybody reads it: an API server stores no default of it, and fills it in for each reader. */
export function admitCustomStatus(served: Served, name: string, status: unknown): unknown {
  const schema: StructuralSchema | undefined = served.custom?.schema.properties?.status;
  if (schema === undefined) return status;
  if (status === undefined) return structuredClone(schema.default);
  const { value } = prune(schema, status);
  const [fault] = schemaViolations(schema, value, ['status']);
  if (fault !== undefined) throw invalid(served.kind, name, displayPath(fault.path), fault.message);
  return value;
}

const changeable: Readonly<Record<string, readonly string[]>> = {
  StatefulSet: [
    'replicas',
    'ordinals',
    'template',
    'updateStrategy',
    'revisionHistoryLimit',
    'persistentVolumeClaimRetentionPolicy',
    'minReadySeconds',
  ],
  Job: ['parallelism', 'activeDeadlineSeconds', 'backoffLimit', 'suspend'],
  Pod: [
    'containers',
    'initContainers',
    'activeDeadlineSeconds',
    'tolerations',
    'terminationGracePeriodSeconds',
    'nodeName',
  ],
  PersistentVolumeClaim: ['resources', 'volumeAttributesClassName', 'volumeName'],
};

const fixedMessages: Readonly<Record<string, string>> = {
  StatefulSet:
    "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
  Pod: 'Forbidden: pod updates may not change fields other than `spec.containers[*].image`',
  PersistentVolumeClaim:
    'Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
};

/**
 * Claims grow once they are bound, and only where the storage lets them. What has not taken effect may be lowered again, to
 * more than the volume has.
 */
function checkClaimSize(served: Served, before: KubeObject, after: KubeObject, canGrow: boolean): void {
  const requested = (claim: KubeObject): string =>
    String(fieldsIn(fieldsIn(fieldsIn(claim.spec).resources).requests).storage ?? '0');
  const [was, is] = [requested(before), requested(after)];
  if (was === is) return;
  const { name } = after.metadata;
  if (fieldsIn(before.status).phase !== 'Bound')
    throw invalid(served.kind, name, 'spec', fixedMessages[served.kind] ?? '');
  if (compareQuantities(is, was) < 0) {
    const capacity = fieldsIn(fieldsIn(before.status).capacity).storage;
    if (compareQuantities(is, String(capacity ?? '0')) > 0) return;
    const field = 'spec.resources.requests.storage';
    throw invalid(served.kind, name, field, 'Forbidden: field can not be less than status.capacity');
  }
  if (canGrow) return;
  const why =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  throw new Refusal(403, 'Forbidden', `${served.plural} "${name}" is forbidden: ${why}`);
}

/** Throws a 422 where a field changes that cannot. */
export function checkFixed(served: Served, before: KubeObject, after: KubeObject, claimsGrow: boolean): void {
  const { kind } = served;
  const { name } = after.metadata;
  if (before.spec !== after.spec) {
    const mayChange = changeable[kind];
    const [was, is] = [fieldsIn(before.spec), fieldsIn(after.spec)];
    if (mayChange !== undefined && !equal(without(was, mayChange), without(is, mayChange))) {
      throw invalid(kind, name, 'spec', fixedMessages[kind] ?? 'field is immutable');
    }
    if (kind === 'Service' && was.clusterIP !== is.clusterIP) {
      throw invalid(kind, name, 'spec.clusterIPs[0]', 'may not change once set');
    }
    if (kind === 'StatefulSet') checkSelector(served, after);
    if (kind === 'PersistentVolumeClaim') checkClaimSize(served, before, after, claimsGrow);
  }
  if (before.immutable === true && !equal([before.data, true], [after.data, after.immutable])) {
    throw invalid(kind, name, 'data', 'Forbidden: field is immutable when `immutable` is set');
  }
  if (kind === 'Secret' && before.type !== after.type) throw invalid(kind, name, 'type', 'field is immutable');
  if (before.metadata.deletionTimestamp !== undefined) {
    const had = before.metadata.finalizers ?? [];
    const added = (after.metadata.finalizers ?? []).filter((finalizer) => !had.includes(finalizer));
    if (added.length > 0) {
      throw invalid(
        kind,
        name,
        'metadata.finalizers',
        `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
      );
    }
  }
}

/** Throws a 422 where a StatefulSet would not select its own pods. */
export function checkSelector(served: Served, object: KubeObject): void {
  if (served.kind !== 'StatefulSet') return;
  const spec = fieldsIn(object.spec);
  const labels = fieldsIn(fieldsIn(fieldsIn(spec.template).metadata).labels);
  for (const [key, value] of Object.entries(fieldsIn(fieldsIn(spec.selector).matchLabels))) {
    if (labels[key] !== value) {
      throw invalid(
        served.kind,
        object.metadata.name,
        'spec.template.metadata.labels',
        '`selector` does not match template `labels`',
      );
    }
  }
}

/** Throws a 403 where a pod cannot be, whoever makes it: its PriorityClass is not there. `classes`: those that are. */
export function checkPriority(object: KubeObject, classes: Iterable<KubeObject>): void {
  if (object.kind !== 'Pod') return;
  const { priorityClassName: wanted } = fieldsIn(object.spec);
  if (wanted === undefined || wanted === '' || String(wanted).startsWith('system-')) return;
  if ([...classes].some(({ metadata }) => metadata.name === wanted)) return;
  const why = `no PriorityClass with name ${String(wanted)} was found`;
  throw new Refusal(403, 'Forbidden', `pods "${object.metadata.name}" is forbidden: ${why}`);
}
