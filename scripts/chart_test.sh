#!/usr/bin/env bash
# `make chart-test`: the tests of the chart, with the tools of scripts/chart_tools.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/log.sh
. scripts/log.sh

status=0
tools=$(scripts/chart_tools.sh) || status=$?
[ "$status" != 69 ] || skip "the tests of the chart: Helm is not available (see above)"
[ "$status" = 0 ] || exit "$status"
definitions=
eval "$tools"
export PATH=$tools:$PATH DESTAGE_KUBERAY_CRDS=$definitions
exec "${PYTEST:-.venv/bin/pytest}" -m chart tests/chart "$@"
