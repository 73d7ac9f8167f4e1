/** Made of the scripts of this folder by `npm run build`. */
export const texts = {
  'back-up.lua': `local os = require("os")

-- Of a BackupSchedule, or of a cluster with spec.backup.
local policy = obj.spec.backup or obj.spec
if policy.target == nil then
  error("spec.backup names no target")
end

local stamp = os.date("!%Y%m%d%H%M%S")
local prefix = obj.metadata.name
-- The name of a Backup has at most 40 characters.
if #prefix + 1 + #stamp > 40 then
  prefix = "backup"
end

-- By labels an operator may select what it serves. By these three, tools find what they have made: Argo CD would delete the backup.
local ofTools = {
  ["app.kubernetes.io/instance"] = true,
  ["app.kubernetes.io/managed-by"] = true,
  ["argocd.argoproj.io/instance"] = true,
}
local labels = nil
for key, value in pairs(obj.metadata.labels or {}) do
  if not ofTools[key] then
    labels = labels or {}
    labels[key] = value
  end
end

local backup = {
  apiVersion = obj.apiVersion,
  kind = "Backup",
  metadata = { name = prefix .. "-" .. stamp, namespace = obj.metadata.namespace, labels = labels },
  spec = {
    cluster = obj.spec.cluster or { kind = obj.kind, name = obj.metadata.name },
    target = policy.target,
    encryption = policy.encryption,
  },
}
return { { operation = "create", resource = backup } }
`,
  'discover-cluster.lua': `local actions = {}
local isPaused = obj.spec.paused == true
local hasTarget = obj.spec.backup ~= nil and obj.spec.backup.target ~= nil

actions["pause"] = { displayName = "Pause", iconClass = "fa fa-fw fa-pause", disabled = isPaused }
actions["resume"] = { displayName = "Resume", iconClass = "fa fa-fw fa-play", disabled = not isPaused }
actions["back-up"] = { displayName = "Back up", iconClass = "fa fa-fw fa-save", disabled = not hasTarget }
if obj.kind == "PostgresCluster" then
  actions["restart"] = { displayName = "Restart", iconClass = "fa fa-fw fa-redo", disabled = isPaused }
end

return actions
`,
  'discover-schedule.lua': `local actions = {}
local isSuspended = obj.spec.suspend == true

actions["pause"] = { displayName = "Pause", iconClass = "fa fa-fw fa-pause", disabled = isSuspended }
actions["resume"] = { displayName = "Resume", iconClass = "fa fa-fw fa-play", disabled = not isSuspended }
actions["back-up"] = { displayName = "Back up", iconClass = "fa fa-fw fa-save", disabled = false }

return actions
`,
  'health.lua': `-- Health of a resource of clusterwright, from its conditions.
local seen = {}
local messages = {}
local status = obj.status or {}
local isObserved = status.observedGeneration ~= nil and status.observedGeneration == obj.metadata.generation

for _, condition in ipairs(status.conditions or {}) do
  seen[condition.type] = condition.status == "True"
  messages[condition.type] = condition.message
end

if not isObserved or messages.Ready == nil then
  return { status = "Progressing", message = "Waiting for the operator to observe the resource" }
end
if seen.Stalled then
  return { status = "Degraded", message = messages.Stalled }
end
if seen.Degraded then
  return { status = "Degraded", message = messages.Degraded }
end
if status.phase == "Paused" or status.phase == "Suspended" then
  return { status = "Suspended", message = messages.Ready }
end
if seen.Ready then
  return { status = "Healthy", message = messages.Ready }
end
return { status = "Progressing", message = messages.Ready }
`,
  'pause-cluster.lua': `obj.spec.paused = true
return obj
`,
  'pause-schedule.lua': `obj.spec.suspend = true
return obj
`,
  'restart-cluster.lua': `local os = require("os")

if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
-- A new text restarts all members, one at a time.
obj.metadata.annotations["clusterwright.dev/restart"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
`,
  'resume-cluster.lua': `obj.spec.paused = false
return obj
`,
  'resume-schedule.lua': `obj.spec.suspend = false
return obj
`,
} as const;
