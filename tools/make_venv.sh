#!/bin/sh
# Usage: make_venv.sh PYTHON.  Makes .venv, or says in one sentence why it cannot.
set -eu
python=$1

command -v "$python" >/dev/null 2>&1 || {
  echo "No Python found.  Install Python 3.11 or newer, then try again." >&2
  exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "This needs Python 3.11 or newer; $python is $("$python" -V 2>&1)." >&2
  echo "If a newer one is installed, name it:  make run PYTHON=/path/to/python3.12" >&2
  exit 1
}
"$python" -c 'import ensurepip, venv' 2>/dev/null || {
  echo "$python cannot make virtual environments.  On Debian and Ubuntu:  apt-get install python3-venv" >&2
  exit 1
}

# A complete environment is kept; half of one (an interrupted run) is made anew.
.venv/bin/python -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear .venv
