-- Health of a resource of clusterwright, from its conditions.
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
