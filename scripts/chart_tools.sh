#!/usr/bin/env bash
# Makes what `make chart-test` needs: Helm and helm-unittest from their sources, at the versions of
# scripts/chart-tools/go.mod, and KubeRay's resource definitions. Prints two lines that a shell can read:
# where the programs are, and where the definitions are (nothing where they cannot be had).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/scripts/chart-tools
cache=${DESTAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/destage}
bin=$cache/bin
stamp=$bin/.chart-tools
kuberay=1.7.0
site=https://raw.githubusercontent.com/ray-project/kuberay/v$kuberay/helm-chart/kuberay-operator/crds

say() { printf '==> %s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

build_tools() {
  if cmp -s "$tools/go.sum" "$stamp" && [ -x "$bin/helm" ] && [ -x "$bin/helm-unittest" ]; then
    return
  fi
  command -v go >/dev/null 2>&1 || fail "install Go 1.26 or later first (https://go.dev/dl): Helm is built from source"
  say "building Helm and helm-unittest (once, some minutes)"
  mkdir -p "$bin"
  (cd "$tools" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -p 2 -trimpath -ldflags "-s -w" -o "$bin/" tool) >&2 ||
    fail "Helm did not build (above): is the Go module proxy reachable?"
  cp "$tools/go.sum" "$stamp"
}

# Prints the folder of KubeRay's definitions: one that was named, one that lies beside the clone, or fetched ones.
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
      say "KubeRay's definitions cannot be fetched from $site: what needs them is skipped"
      return
    }
  done
  for name in ray.io_rayclusters.yaml ray.io_rayjobs.yaml; do mv "$folder/$name.part" "$folder/$name"; done
  printf '%s\n' "$folder"
}

build_tools
printf 'tools=%q\n' "$bin"
printf 'definitions=%q\n' "$(find_definitions)"
