local actions = {}
local isSuspended = obj.spec.suspend == true

actions["pause"] = { displayName = "Pause", iconClass = "fa fa-fw fa-pause", disabled = isSuspended }
actions["resume"] = { displayName = "Resume", iconClass = "fa fa-fw fa-play", disabled = not isSuspended }
actions["back-up"] = { displayName = "Back up", iconClass = "fa fa-fw fa-save", disabled = false }

return actions
