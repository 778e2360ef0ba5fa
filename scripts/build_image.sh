#!/usr/bin/env bash
# Builds the image with Docker's BuildKit: IMAGE names it, PUSH=1 pushes it with its bill of materials and its
# provenance. Each base is pinned: by RUST_IMAGE and PYTHON_IMAGE where they are given with a digest, else by the
# digest that its tag has now, which is printed, so that the same image can be built again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/telling.sh
. scripts/telling.sh
# shellcheck source=scripts/versions.sh
. scripts/versions.sh

image=${IMAGE:-destage}
version=$(project_version)

# pinned IMAGE: prints it with its digest.
pinned() {
  local digest
  case $1 in
    *@sha256:*) printf '%s\n' "$1" ;;
    *)
      digest=$(docker buildx imagetools inspect "$1" --format '{{json .Manifest.Digest}}' | tr -d '"') ||
        fail "the digest of $1 cannot be looked up: is its registry reachable?"
      printf '%s@%s\n' "${1%%@*}" "$digest"
      ;;
  esac
}

command -v docker >/dev/null 2>&1 || fail "install Docker with buildx first (https://docs.docker.com/engine/install)"
docker info >/dev/null 2>&1 || fail "Docker's daemon does not answer: start it, or run as a user who may use it"
docker buildx version >/dev/null 2>&1 || fail "install Docker's buildx plugin first"

rust=$(pinned "${RUST_IMAGE:-docker.io/library/rust:1.95-slim-bookworm}")
python=$(pinned "${PYTHON_IMAGE:-docker.io/library/python:3.13-slim-bookworm}")
say "RUST_IMAGE=$rust PYTHON_IMAGE=$python"
# An image that only stays here cannot carry attestations; the bill inside it is /opt/destage/sbom.cdx.json.
output=(--load)
if [ "${PUSH:-}" = 1 ]; then
  output=(--push --sbom=true --provenance=mode=max)
  # Docker's own builder makes them only where Docker keeps its images in containerd; elsewhere one of our own does.
  if [ -z "${BUILDX_BUILDER:-}" ] && ! docker info --format '{{json .DriverStatus}}' | grep -q io.containerd.snapshotter; then
    export BUILDX_BUILDER=destage
    docker buildx inspect destage >/dev/null 2>&1 || docker buildx create --name destage --driver docker-container >/dev/null
  fi
fi
docker buildx build --file image/Dockerfile --tag "$image:$version" "${output[@]}" \
  --build-arg "RUST_IMAGE=$rust" --build-arg "PYTHON_IMAGE=$python" --build-arg "VERSION=$version" \
  --build-arg "REVISION=$(git rev-parse HEAD)" --build-arg "CREATED=$(git log -1 --format=%cI)" .
say "built $image:$version"
