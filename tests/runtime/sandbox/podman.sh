#!/bin/sh
# podman for the tests of containers. runc besides crun, which refuses some machines' control groups.
set -eu
if command -v podman >/dev/null 2>&1 && command -v runc >/dev/null 2>&1; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  { apt-get update || true; apt-get install --yes --no-install-recommends podman runc; } >"$log" 2>&1 && { rm -f "$log"; exit 0; }
  tail -n 20 "$log" >&2
  rm -f "$log"
fi
echo "The tests of containers need podman and runc: install them with your package manager." >&2
exit 1
