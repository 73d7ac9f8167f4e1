local os = require("os")

if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
-- A new text restarts all members, one at a time.
obj.metadata.annotations["clusterwright.dev/restart"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
