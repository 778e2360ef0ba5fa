#!/usr/bin/env bash
# `make chart-test`: the chart's tests, with the tools that scripts/chart_tools.sh makes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

status=0
tools=$(scripts/chart_tools.sh) || status=$?
if [ "$status" = 69 ]; then
  printf 'skipped: the tests of the chart, because Helm cannot be had here (above)\n'
  exit 0
fi
[ "$status" = 0 ] || exit "$status"
definitions=
eval "$tools"
export PATH=$tools:$PATH DESTAGE_KUBERAY_CRDS=$definitions
exec "${PYTEST:-.venv/bin/pytest}" -m chart tests/chart "$@"
