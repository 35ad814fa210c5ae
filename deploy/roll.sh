#!/bin/sh
# Usage: roll.sh, as root.  A new version without a break: systemd restarts the processes one after another, each when the one
# before answers.  Readers of a process that goes are taken over by another one and lose nothing.
set -eu
cd "$(dirname "$0")/.."
for port in $(.venv/bin/python -c "from deploy import settings; print(*settings.read().ports)"); do
  systemctl restart "llm-serving@$port"
  tries=0
  until curl --silent --fail --output /dev/null "http://127.0.0.1:$port/_stcore/health"; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || { echo "llm-serving@$port does not answer; the others stay as they are" >&2; exit 1; }
    sleep 0.5
  done
  echo "llm-serving@$port is new"
done
