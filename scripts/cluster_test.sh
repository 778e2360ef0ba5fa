#!/usr/bin/env bash
# `make cluster-test`: tests on a real Kubernetes with a fake KubeRay operator. The test cluster runs in Linux namespaces of
# its own; the recipe in DESTAGE_TEST_CLUSTER_RECIPE (default ../shared/cluster) builds it in about ten minutes and keeps
# the build in DESTAGE_TEST_CLUSTER. With BUILD=0, as in `make test`, nothing is built, and missing parts are skipped.
# DESTAGE_TEST_OPERATOR is the program of KubeRay's operator, which then runs instead of the fake one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/log.sh
. scripts/log.sh

recipe=${DESTAGE_TEST_CLUSTER_RECIPE:-$PWD/../shared/cluster}
home=${DESTAGE_TEST_CLUSTER:-${XDG_CACHE_HOME:-$HOME/.cache}/destage/test-cluster}

# lack TEXT: reports what the tests need; with BUILD=0 they are skipped.
lack() {
  [ "${BUILD:-1}" = 0 ] || fail "$*"
  skip "$*"
}

is_built() {
  local program
  for program in etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet coredns; do
    [ -x "$home/bin/$program" ] || return 1
  done
  [ -f "$home/ray.tar" ] && [ -d "$home/rootfs" ] && command -v containerd >/dev/null 2>&1
}

# One run at a time: a run deletes shared folders when it ends.
lock_cluster() {
  exec 9>"$home/.lock"
  flock --nonblock 9 && return
  say "waiting for another run that uses the test cluster in $home"
  flock --timeout 3600 9 || fail "timeout: another run has used the test cluster in $home for an hour"
}

[ "$(id -u)" = 0 ] || skip "namespaces, mounts and containerd need root"
unshare --net --mount --pid --fork true 2>/dev/null || skip "this machine does not allow namespaces"
[ -f "$recipe/in-ns.sh" ] || lack "no recipe of the test cluster in $recipe (DESTAGE_TEST_CLUSTER_RECIPE)"
[ "${BUILD:-1}" != 0 ] || is_built || skip "the test cluster is not built in $home (\`make cluster-test\` builds it)"
mkdir -p "$home"
lock_cluster
rm -rf "$home/run" "$home/c" # of a run that was killed before the recipe could delete them: objects, images, containers
is_built || K=$home bash "$recipe/build.sh" >&2
status=0
tools=$(scripts/chart_tools.sh) || status=$?
[ "$status" != 69 ] || lack "Helm is not available (see above)"
[ "$status" = 0 ] || exit "$status"
eval "$tools"
scripts/test_cluster_image.sh "$home" "$home/destage.tar" >&2

server=$(scripts/object_servers.sh versitygw)
server=${server#*: }
case $server in skipped:*) [ "${BUILD:-1}" = 0 ] || fail "the S3 server: ${server#*: }" ;; esac

operator=${DESTAGE_TEST_OPERATOR:-}
[ -z "$operator" ] || [ -x "$operator" ] || fail "$operator is not a program (OPERATOR)"

export DESTAGE_TEST_CLUSTER_S3_SERVER=$server
export K=$home DESTAGE_KUBERAY_CRDS=$recipe/crds PATH=$tools:$PATH
# shellcheck disable=SC2016 # the shell inside expands it
exec bash "$recipe/in-ns.sh" bash -ec '
  if [ -n "${DESTAGE_TEST_OPERATOR:-}" ]; then # the operator calls the heads by the names of their Services
    echo "nameserver 10.244.0.1" >"$K/run/resolv.conf"
    mount --bind "$K/run/resolv.conf" /etc/resolv.conf
  fi
  ctr -a "$K/c/containerd.sock" -n k8s.io images import "$K/destage.tar" >/dev/null
  exec "$0" -m kubernetes tests/kubernetes_cluster "$@"' "${PYTEST:-.venv/bin/pytest}" "$@"
