#!/bin/sh
set -eu
answer=$(timeout 2 "${SERVER:-redis}-cli" -p 6379 ping 2>&1) || true
case $answer in '' | *'Could not connect'*) exit 1 ;; esac
