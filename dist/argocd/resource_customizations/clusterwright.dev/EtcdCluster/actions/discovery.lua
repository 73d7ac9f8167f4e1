local actions = {}
local isPaused = obj.spec.paused == true
local hasTarget = obj.spec.backup ~= nil and obj.spec.backup.target ~= nil

actions["pause"] = { displayName = "Pause", iconClass = "fa fa-fw fa-pause", disabled = isPaused }
actions["resume"] = { displayName = "Resume", iconClass = "fa fa-fw fa-play", disabled = not isPaused }
actions["back-up"] = { displayName = "Back up", iconClass = "fa fa-fw fa-save", disabled = not hasTarget }
if obj.kind == "PostgresCluster" then
  actions["restart"] = { displayName = "Restart", iconClass = "fa fa-fw fa-redo", disabled = isPaused }
end

return actions
