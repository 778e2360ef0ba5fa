#!/usr/bin/env bash
# `make cluster-test`: the cluster's tests on a real Kubernetes of their own, brought up in namespaces of its own
# by the recipe in DESTAGE_RIG_RECIPE (by default ../shared/cluster), with KubeRay's operator stood in for.
# What the recipe builds, in some ten minutes, is kept in DESTAGE_RIG; with BUILD=0, as `make test` has it, nothing is
# built, and what is not there is done without. Where namespaces cannot work all of it is skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/telling.sh
. scripts/telling.sh

recipe=${DESTAGE_RIG_RECIPE:-$PWD/../shared/cluster}
rig=${DESTAGE_RIG:-${XDG_CACHE_HOME:-$HOME/.cache}/destage/rig}

# lack TEXT: says what the tests need and is not here.
lack() {
  [ "${BUILD:-1}" = 0 ] || fail "$*"
  skip "$*"
}

is_built() {
  local program
  for program in etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet coredns; do
    [ -x "$rig/bin/$program" ] || return 1
  done
  [ -f "$rig/ray.tar" ] && [ -d "$rig/rootfs" ] && command -v containerd >/dev/null 2>&1
}

# One at a time: whoever ends clears the folders that the next one would be using.
take_turn() {
  exec 9>"$rig/.lock"
  flock --nonblock 9 && return
  say "waiting for another run that uses the test cluster in $rig"
  flock --timeout 3600 9 || fail "another run has used the test cluster in $rig for an hour"
}

[ "$(id -u)" = 0 ] || skip "namespaces, mounts and containerd need root"
unshare --net --mount --pid --fork true 2>/dev/null || skip "this machine allows no namespaces"
[ -f "$recipe/in-ns.sh" ] || lack "the recipe of the test cluster is not at $recipe (DESTAGE_RIG_RECIPE)"
[ "${BUILD:-1}" != 0 ] || is_built || skip "the test cluster is not built in $rig (\`make cluster-test\` builds it)"
mkdir -p "$rig"
take_turn
is_built || K=$rig bash "$recipe/build.sh" >&2
status=0
tools=$(scripts/chart_tools.sh) || status=$?
[ "$status" != 69 ] || lack "Helm cannot be had here (above)"
[ "$status" = 0 ] || exit "$status"
eval "$tools"
scripts/rig_image.sh "$rig" "$rig/destage.tar" >&2

server=$(scripts/object_servers.sh versitygw)
server=${server#*: }
case $server in skipped:*) [ "${BUILD:-1}" = 0 ] || fail "the S3 server: ${server#*: }" ;; esac

export DESTAGE_RIG_S3_SERVER=$server
export K=$rig DESTAGE_KUBERAY_CRDS=$recipe/crds PATH=$tools:$PATH
# shellcheck disable=SC2016 # the shell inside expands it
exec bash "$recipe/in-ns.sh" bash -ec '
  ctr -a "$K/c/containerd.sock" -n k8s.io images import "$K/destage.tar" >/dev/null
  exec "$0" -m rig tests/rig "$@"' "${PYTEST:-.venv/bin/pytest}" "$@"
