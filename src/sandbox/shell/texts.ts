/** Made of the scripts of this folder by `npm run build`. */
export const texts = {
  'volumes.sh': `#!/bin/sh
# Makes, grows and removes the volumes of the sandbox, as a CSI driver and its sidecars do: PLAIN and LIMITED are the directories of the
# two classes, \`local-path\` and \`local-path-limited\`. Claims and volumes are watched: a quiet sandbox costs two open requests.
set -u

provisioner=clusterwright.dev/local-path

directory_of() { # CLASS VOLUME
  case $1 in
    local-path) echo "$PLAIN/$2" ;;
    local-path-limited) echo "$LIMITED/$2" ;;
  esac
}

# A file system of its own in a file. What it has beyond the size of the claim is in \`reserve\`, for when it is to grow.
format() { # DIRECTORY BYTES
  mkdir -p "$1.fs" &&
    truncate -s $(($2 * 8)) "$1.img" &&
    mkfs.ext4 -q -F -m 0 -N 65536 "$1.img" &&
    mount -o loop "$1.img" "$1.fs" &&
    mkdir "$1.fs/data" &&
    fallocate -l $(($(stat -f -c '%a*%S' "$1.fs") - $2)) "$1.fs/reserve" &&
    mount --bind "$1.fs/data" "$1"
}

discard() { # DIRECTORY
  for mounted in "$1" "$1.fs"; do
    if mountpoint -q "$mounted"; then umount "$mounted" || return 1; fi
  done
  rm -rf "$1" "$1.fs" "$1.img"
}

provision() { # NAMESPACE CLAIM UID CLASS NODE SIZE MODE
  volume=pvc-$3
  directory=$(directory_of "$4" "$volume")
  if [ ! -d "$directory" ]; then
    mkdir -p "$directory" || return 1
    if [ "$4" = local-path-limited ] && ! format "$directory" "$(numfmt --from=auto "$6")"; then
      discard "$directory"
      return 1
    fi
    chmod 0777 "$directory" || return 1
  fi
  kubectl create -f - << END
apiVersion: v1
kind: PersistentVolume
metadata:
  name: $volume
  annotations: { pv.kubernetes.io/provisioned-by: $provisioner }
spec:
  capacity: { storage: "$6" }
  accessModes: [$7]
  persistentVolumeReclaimPolicy: Delete
  storageClassName: $4
  claimRef: { apiVersion: v1, kind: PersistentVolumeClaim, namespace: $1, name: $2, uid: $3 }
  hostPath: { path: $directory, type: Directory }
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{ key: kubernetes.io/hostname, operator: In, values: [$5] }]
END
}

# To grow a mounted ext4 takes CAP_SYS_RESOURCE, which even root may not have. So as much of the reserve is given back.
grow() { # NAMESPACE CLAIM VOLUME SIZE FORMER
  reserve=$(directory_of local-path-limited "$3").fs/reserve
  left=$(($(stat -c %s "$reserve") - $(numfmt --from=auto "$4") + $(numfmt --from=auto "$5"))) || return 1
  [ "$left" -ge 0 ] && truncate -s "$left" "$reserve" || return 1
  kubectl patch --type=merge persistentvolume "$3" -p "{\\"spec\\":{\\"capacity\\":{\\"storage\\":\\"$4\\"}}}" || return 1
  kubectl patch --type=merge -n "$1" persistentvolumeclaim "$2" --subresource=status \\
    -p "{\\"status\\":{\\"capacity\\":{\\"storage\\":\\"$4\\"}}}"
}

remove() { # VOLUME CLASS
  discard "$(directory_of "$2" "$1")" && kubectl delete persistentvolume "$1" --wait=false --ignore-not-found
}

claims=NAMESPACE:.metadata.namespace,NAME:.metadata.name,UID:.metadata.uid,CLASS:.spec.storageClassName
claims=$claims,VOLUME:.spec.volumeName,NODE:'.metadata.annotations.volume\\.kubernetes\\.io/selected-node'
claims=$claims,WANTED:.spec.resources.requests.storage,MODE:'.spec.accessModes[0]',HAS:.status.capacity.storage

watch_claims() {
  while :; do
    kubectl get persistentvolumeclaims -A --watch --no-headers -o custom-columns="$claims" |
      while read -r namespace name uid class volume node wanted mode has; do
        case $class in local-path | local-path-limited) ;; *) continue ;; esac
        if [ "$volume" = '<none>' ]; then
          [ "$node" = '<none>' ] || provision "$namespace" "$name" "$uid" "$class" "$node" "$wanted" "$mode"
        elif [ "$class" = local-path-limited ] && [ "$has" != '<none>' ] &&
          [ "$(numfmt --from=auto "$wanted")" -gt "$(numfmt --from=auto "$has")" ]; then
          grow "$namespace" "$name" "$volume" "$wanted" "$has" || echo "$namespace/$name stays at $has" >&2
        fi
      done
    sleep 1
  done
}

# A volume whose claim has gone: the kubelets have let go of it by then.
watch_volumes() {
  columns=NAME:.metadata.name,PHASE:.status.phase,POLICY:.spec.persistentVolumeReclaimPolicy,CLASS:.spec.storageClassName
  while :; do
    kubectl get persistentvolumes --watch --no-headers -o custom-columns="$columns,ENDS:.metadata.deletionTimestamp" |
      while read -r volume phase policy class ends; do
        case $phase/$policy/$class/$ends in
          Released/Delete/local-path/'<none>' | Released/Delete/local-path-limited/'<none>')
            remove "$volume" "$class" || echo "$volume is not removed" >&2
            ;;
        esac
      done
    sleep 1
  done
}

watch_volumes &
watch_claims
`,
} as const;
