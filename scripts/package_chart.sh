#!/usr/bin/env bash
# `make chart`: packages the chart into dist/, with an installed Helm or that of scripts/chart_tools.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/log.sh
. scripts/log.sh

if ! command -v helm >/dev/null; then
  status=0
  tools=$(scripts/chart_tools.sh) || status=$?
  [ "$status" != 69 ] || skip "the package of the chart: Helm is not available (see above)"
  [ "$status" = 0 ] || exit "$status"
  eval "$tools"
  PATH=$tools:$PATH
fi
helm package helm/destage --destination dist
