local os = require("os")

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
