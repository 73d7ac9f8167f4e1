/// <reference types="node" preserve="true" />
/**
 * `clusterwright/engine`: what an engine is written with. `docs/engines/adding.md` says how.
 *
 * Everything here is pure, or a type: the same engine runs in the controller, in the command line and at synth.
 */
export { backupPolicyRules, backupPolicySchema, bootstrapRules, bootstrapSchema } from './api/bootstrap.ts';
export type { Cluster } from './api/cluster.ts';
export { lifeColumns, stateColumns, wideColumns } from './api/columns.ts';
export { computeRules, computeSchema } from './api/compute.ts';
export type { DesiredCondition } from './api/condition.ts';
export {
  adoptRule,
  adoptSchema,
  type ContentSpec,
  clusterSchema,
  contentDeletionPolicySchema,
  contentKind,
} from './api/content.ts';
export { durationMs, durationSchema } from './api/duration.ts';
export { imageSchema } from './api/image.ts';
export type { KindDefinition, PrinterColumn } from './api/kind.ts';
export { deletionPolicySchema, pausedSchema } from './api/lifecycle.ts';
export { metadataSchema } from './api/metadata.ts';
export type { KubeObject, ObjectMeta, Resource } from './api/object.ts';
export { canonicalQuantity, compareQuantities, unitsOf } from './api/quantity.ts';
export type { ReferenceOptions } from './api/reference.ts';
export { schedulingSchema } from './api/scheduling.ts';
export type { CelRule, Defaulted, StructuralSchema, Written } from './api/schema.ts';
export { secretRefSchema } from './api/secret-ref.ts';
export type { ClusterStatus, MemberStatus, Phase } from './api/status.ts';
export { statusSchema } from './api/status-schema.ts';
export { storageRules, storageSchema, volumeSchema } from './api/storage.ts';
export {
  type BackupFactory,
  type BackupSource,
  type BackupSupport,
  type MountedSecret,
  type OwnBackup,
  type RestoreContainer,
  type RestoredSet,
  type RestoreTemplate,
  restoredAnnotation,
  restoredVolume,
  roomFor,
} from './engine/backup-support.ts';
export type { Connection, Place, SecretKey } from './engine/connection.ts';
export { contentHandler } from './engine/content-handler.ts';
export type { ContentKind, ContentSituation } from './engine/content-kind.ts';
export type { Definition } from './engine/definition.ts';
export { desiredConditions, type Judged } from './engine/desired-conditions.ts';
export type { Engine, KindHandler, Listener, Maintenance, PolicyRule, StatusReport } from './engine/engine.ts';
export type { EngineContext, HttpRequest, HttpResponse, TlsMaterial } from './engine/engine-context.ts';
export type { GoModule, GoProgram, ImageConfig, ImageRecipe, LayerRecipe, RecipeFile } from './engine/image-recipe.ts';
export { secretMissing } from './engine/secret-missing.ts';
export { within } from './engine/within.ts';
export { type DefinedEngine, defineEngine, handlersOf } from './jobs/handlers.ts';
export { claimGivenTo, isOfPod } from './plan/claimed.ts';
export { isVolumeGoing, sparingVolumes } from './plan/going-volumes.ts';
export { memoize } from './plan/memoize.ts';
export { atSize, type Desired, objectSteps } from './plan/objects.ts';
export {
  type ActStep,
  blocked,
  type EngineAction,
  type ObjectStep,
  type Outcome,
  type Plan,
  type Step,
  settled,
  wait,
} from './plan/plan.ts';
export { podProblem } from './plan/pod-problem.ts';
export { refOf } from './plan/ref.ts';
export { isResizing } from './plan/resize.ts';
export { resizeTurn, whyNotInPlace } from './plan/resize-turn.ts';
export {
  cannotStart,
  isGenerationObserved,
  nextToRestart,
  outdatedPods,
  restartSteps,
  stuckPod,
} from './plan/rollout.ts';
export {
  awaitingExpansion,
  expansionConditions,
  growthSteps,
  isExpanding,
  storageStatus,
} from './plan/volume-expansion.ts';
export {
  type Children,
  type Claim,
  childrenOf,
  noChildren,
  ordinalOf,
  type Pod,
  podIsReady,
  type StatefulSet,
} from './resources/children.ts';
export { computeResources } from './resources/compute.ts';
export { configMap } from './resources/configmap.ts';
export { disruptionBudget } from './resources/disruptionbudget.ts';
export { imageOf } from './resources/image.ts';
export {
  labels,
  memberLabel,
  ownedMetadata,
  type Part,
  selectorLabels,
  unownedMetadata,
} from './resources/metadata.ts';
export type { ContainerSpec, PodSpec, Probe, Volume } from './resources/plain.ts';
export { containerSecurityContext, podSecurityContext } from './resources/podsecurity.ts';
export { schedulingFields } from './resources/scheduling.ts';
export { generatedSecret } from './resources/secret.ts';
export { clusterIPService, headlessService } from './resources/service.ts';
export { type ClaimTemplate, type StatefulSetOptions, statefulSet } from './resources/statefulset.ts';
