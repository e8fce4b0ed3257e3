#!/bin/sh
# bubblewrap for the tests of sandboxes, where it is missing and can be installed.
set -eu
if [ "$(uname)" != Linux ] || command -v bwrap >/dev/null 2>&1; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  { apt-get update || true; apt-get install --yes --no-install-recommends bubblewrap; } >"$log" 2>&1 && { rm -f "$log"; exit 0; }
  tail -n 20 "$log" >&2
  rm -f "$log"
fi
echo "The tests of sandboxes need bubblewrap (bwrap): install it with your package manager." >&2
exit 1
