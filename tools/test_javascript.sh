#!/bin/sh
# Runs the tests of the player's JavaScript with node's own runner, where there is a node that has one.
set -eu

tests=$(find tests/js -name '*.test.*' 2>/dev/null | sort)
[ -n "$tests" ] || exit 0

if ! node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null; then
  echo "No node 20 or newer here: the tests in tests/js are left out."
  exit 0
fi
exec node --test $tests
