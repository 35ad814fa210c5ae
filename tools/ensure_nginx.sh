#!/bin/sh
# Makes sure that nginx is there: the one on PATH, else, on Debian as root, its package.  Without it a hall does not start and
# its tests are skipped; this script only says so.
set -eu

found() {
  PATH="$PATH:/usr/sbin" command -v nginx >/dev/null 2>&1
}

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && [ -f /etc/debian_version ]; then
  echo "Installing nginx-light for the hall"
  # It would start a server of its own on port 80: a hall has its own.
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get install -y -qq --no-install-recommends nginx-light >/dev/null; } || true
fi
found || echo "No nginx here.  On Debian and Ubuntu, as root:  apt-get install nginx-light" >&2
