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

local backup = {
  apiVersion = obj.apiVersion,
  kind = "Backup",
  metadata = { name = prefix .. "-" .. stamp, namespace = obj.metadata.namespace },
  spec = {
    cluster = obj.spec.cluster or { kind = obj.kind, name = obj.metadata.name },
    target = policy.target,
    encryption = policy.encryption,
  },
}
return { { operation = "create", resource = backup } }
