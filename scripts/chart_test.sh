#!/usr/bin/env bash
# `make chart-test`: the chart's tests, with the tools that scripts/chart_tools.sh makes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/telling.sh
. scripts/telling.sh

status=0
tools=$(scripts/chart_tools.sh) || status=$?
[ "$status" != 69 ] || skip "the tests of the chart, because Helm cannot be had here (above)"
[ "$status" = 0 ] || exit "$status"
definitions=
eval "$tools"
export PATH=$tools:$PATH DESTAGE_KUBERAY_CRDS=$definitions
exec "${PYTEST:-.venv/bin/pytest}" -m chart tests/chart "$@"
