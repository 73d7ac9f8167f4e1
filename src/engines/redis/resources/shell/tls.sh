# Copies of the mounted certificate, its key and the CAs, each in a folder that is named after a digest of its content. A server is told to read
# such a folder. So it is known what it has read, though the kubelet replaces the mounted files at any time.
staged=/run/redis/tls
digest_in() { cat "$1/tls.crt" "$1/tls.key" "$1/ca.crt" 2> /dev/null | sha256sum | cut -c 1-16; }
# Removes the copies that neither the volume nor the server has, and what is left of one that was not finished: there is room for three.
tidy_certificates() {
  rm -rf "$staged"/new-*
  for folder in "$staged"/*; do
    [ -d "$folder" ] && [ "$folder" != "$staged/$1" ] || continue
    # One that does not answer may have any of them.
    used=$(local_cli config get tls-cert-file 2> /dev/null) || return 0
    case $used in *"$folder/"*) ;; '' | tls-cert-file*) rm -rf "$folder" ;; esac
  done
}
# Prints the digest of what is mounted, once there is a copy of it. Fails where nothing is mounted.
stage_certificate() {
  # The kubelet replaces all files at once, by another target of this link. A folder that it has just removed cannot be copied.
  mounted=$(cd -P "${TLS_DIR:-}/..data" 2> /dev/null && pwd) || mounted=${TLS_DIR:-}
  for name in tls.crt tls.key ca.crt; do [ -s "$mounted/$name" ] || return 1; done
  # The volume that they go to has 1 MiB.
  [ "$(cat "$mounted/tls.crt" "$mounted/tls.key" "$mounted/ca.crt" | wc -c)" -le 250000 ] || return 1
  digest=$(digest_in "$mounted")
  tidy_certificates "$digest"
  if [ ! -e "$staged/$digest" ]; then
    new=$staged/new-$$
    (umask 077 && mkdir -p "$new" && cp "$mounted/tls.crt" "$mounted/tls.key" "$mounted/ca.crt" "$new/") 2> /dev/null || return 1
    [ "$(digest_in "$new")" = "$digest" ] && mv "$new" "$staged/$digest" || return 1
  fi
  echo "$digest"
}
# Copies what is mounted, and tells the operator that the server can read it: in a directive that means nothing without Redis Cluster.
told_certificate=/run/redis/told-certificate
keep_certificate() {
  staged_digest=$(stage_certificate) || return 1
  [ "$staged_digest" != "$(cat "$told_certificate" 2> /dev/null)" ] || return 0
  case $(local_cli config set cluster-announce-ip "certificate-$staged_digest") in
    OK*) echo "$staged_digest" > "$told_certificate" ;;
  esac
}
# There from the start of a server until it accepts TLS.
unsecured=/run/redis/unsecured
# A server that starts accepts TLS before it is admitted, also while the operator is away. It starts without, so that no certificate keeps it from
# starting. That it refuses one is the operator's to tell of.
secure_server() {
  [ -e "$unsecured" ] && [ -s "$CONFIG_DIR/tls" ] || return 0
  at=$staged/$(stage_certificate) || return 0
  case $(local_cli config set tls-cert-file "$at/tls.crt" tls-key-file "$at/tls.key" tls-ca-cert-file "$at/ca.crt" tls-auth-clients no tls-port 6380) in
    OK*) rm -f "$unsecured" ;;
  esac
}
