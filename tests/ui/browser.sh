#!/bin/sh
# A browser for the tests of the page: the system's own where there is one or one can be installed, else Playwright's.
# The headless shell needs a third less processor time than the whole browser.
# $1: the playwright command.
set -eu
if [ -n "${PLAIT_CHROMIUM:-}" ] || command -v chromium-headless-shell >/dev/null 2>&1; then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  apt-get update >"$log" 2>&1 || true
  for package in chromium-headless-shell chromium; do
    if apt-get install --yes --no-install-recommends "$package" fonts-dejavu-core >>"$log" 2>&1; then
      rm -f "$log"
      exit 0
    fi
  done
  tail -n 20 "$log" >&2
  rm -f "$log"
fi
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" >/dev/null 2>&1; then
    exit 0
  fi
done
exec "$1" install --only-shell chromium
