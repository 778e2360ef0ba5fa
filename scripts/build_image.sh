#!/usr/bin/env bash
# `make image`: builds the image with Docker's BuildKit. IMAGE is its name; PUSH=1 pushes it with an SBOM and provenance.
# Each base image is pinned by a digest: that of RUST_IMAGE or PYTHON_IMAGE, else the current digest of the default tag,
# which is printed so that the build can be repeated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/log.sh
. scripts/log.sh
# shellcheck source=scripts/versions.sh
. scripts/versions.sh

image=${IMAGE:-destage}
version=$(project_version)

# pinned IMAGE: prints the image with its digest.
pinned() {
  local digest
  case $1 in
    *@sha256:*) printf '%s\n' "$1" ;;
    *)
      digest=$(docker buildx imagetools inspect "$1" --format '{{json .Manifest.Digest}}' | tr -d '"') ||
        fail "cannot look up the digest of $1: check the connection to its registry"
      printf '%s@%s\n' "${1%%@*}" "$digest"
      ;;
  esac
}

command -v docker >/dev/null 2>&1 || fail "install Docker with buildx first (https://docs.docker.com/engine/install)"
docker info >/dev/null 2>&1 || fail "cannot connect to the Docker daemon: start it, or run as a user with access to it"
docker buildx version >/dev/null 2>&1 || fail "install Docker's buildx plugin first"

rust=$(pinned "${RUST_IMAGE:-docker.io/library/rust:1.95-slim-bookworm}")
python=$(pinned "${PYTHON_IMAGE:-docker.io/library/python:3.13-slim-bookworm}")
say "RUST_IMAGE=$rust PYTHON_IMAGE=$python"
# A local image cannot have attestations; the SBOM inside it is /opt/destage/sbom.cdx.json.
output=(--load)
if [ "${PUSH:-}" = 1 ]; then
  output=(--push --sbom=true --provenance=mode=max)
  # Docker's default builder creates attestations only with the containerd image store; otherwise use our own builder.
  if [ -z "${BUILDX_BUILDER:-}" ] && ! docker info --format '{{json .DriverStatus}}' | grep -q io.containerd.snapshotter; then
    export BUILDX_BUILDER=destage
    docker buildx inspect destage >/dev/null 2>&1 || docker buildx create --name destage --driver docker-container >/dev/null
  fi
fi
docker buildx build --file image/Dockerfile --tag "$image:$version" "${output[@]}" \
  --build-arg "RUST_IMAGE=$rust" --build-arg "PYTHON_IMAGE=$python" --build-arg "VERSION=$version" \
  --label "org.opencontainers.image.revision=$(git rev-parse HEAD)" \
  --label "org.opencontainers.image.created=$(git log -1 --format=%cI)" .
say "built $image:$version"
