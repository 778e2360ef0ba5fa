#!/usr/bin/env bash
# `make image-test`: builds image/Dockerfile with buildah, without Docker and a registry, and tests the image. RUST_IMAGE and
# PYTHON_IMAGE are base images to pull; by default substitutes are made from Debian's packages: bookworm with this
# machine's Rust, and trixie with its Python 3.13.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/log.sh
. scripts/log.sh
# shellcheck source=scripts/versions.sh
. scripts/versions.sh

store=${DESTAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/destage}/image
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
version=$(project_version)
image=localhost/destage:$version

# builder ARGS: runs buildah with its own storage.
builder() { buildah --root "$store/storage" --runroot "$store/run" "$@"; }

# id_of IMAGE: prints the image's digest; nothing if it does not exist.
id_of() { builder images --quiet --no-trunc "$1" 2>/dev/null || true; }

# debian SUITE PACKAGES: creates a container with Debian packages and prints its name.
debian() {
  local container
  command -v mmdebstrap >/dev/null 2>&1 || fail "install mmdebstrap, or set RUST_IMAGE and PYTHON_IMAGE"
  mmdebstrap --quiet --mode=root --variant=minbase --include="ca-certificates,$2" \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    "$1" "$store/root.tar" "$mirror" >&2 || fail "cannot download Debian packages from $mirror (DEBIAN_MIRROR)"
  container=$(builder from scratch)
  builder add --quiet "$container" "$store/root.tar" / >/dev/null
  rm "$store/root.tar"
  # The build steps need this machine's certificates, for example of a proxy.
  builder copy --quiet "$container" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ >/dev/null
  builder config --env PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  printf '%s\n' "$container"
}

# substitute_rust, substitute_python: build the base image if it does not exist, and print its name.
substitute_rust() {
  local name container folder toolchain
  toolchain=$(cd engine && rustc --print sysroot) || fail "install Rust, or set RUST_IMAGE"
  name=localhost/rust:$(cd engine && rustc --version | cut -d ' ' -f 2)-bookworm
  if [ -z "$(id_of "$name")" ]; then
    say "building $name"
    container=$(debian bookworm gcc,libc6-dev)
    folder=$(builder mount "$container")
    tar -C "$toolchain" --exclude=./share --exclude=./lib/rustlib/src -cf - . | tar -C "$folder/usr/local" -xf -
    builder commit --quiet --rm "$container" "$name" >/dev/null
  fi
  printf '%s\n' "$name"
}

substitute_python() {
  local name=localhost/python:3.13-trixie container
  if [ -z "$(id_of "$name")" ]; then
    say "building $name"
    container=$(debian trixie netbase,tzdata,python3,python3-venv)
    builder commit --quiet --rm "$container" "$name" >/dev/null
  fi
  printf '%s\n' "$name"
}

[ "$(id -u)" = 0 ] || skip "buildah needs root on this machine"
command -v buildah >/dev/null 2>&1 || skip "buildah is missing (Debian, Ubuntu: apt-get install buildah)"
mkdir -p "$store"
exec 9>"$store/.lock"
flock --timeout 3600 9 || fail "timeout: another build has used $store for an hour"
builder rm --all >/dev/null # left by a killed run

rust=${RUST_IMAGE:-$(substitute_rust)}
python=${PYTHON_IMAGE:-$(substitute_python)}
say "building image/Dockerfile on $rust and $python"
former=$(id_of "$image")
builder build --isolation chroot --layers --file image/Dockerfile --tag "$image" \
  --build-arg "RUST_IMAGE=$rust" --build-arg "PYTHON_IMAGE=$python" --build-arg "VERSION=$version" \
  --label "org.opencontainers.image.revision=$(git rev-parse HEAD)" \
  --label "org.opencontainers.image.created=$(git log -1 --format=%cI)" . >&2
if [ -n "$former" ] && [ "$former" != "$(id_of "$image")" ]; then
  builder rmi "$former" >/dev/null # layers in use are kept
fi

validator=$store/validator
if ! cmp -s tests/image/requirements.lock "$validator/.installed-lock"; then
  uv=$(command -v .venv/bin/uv || command -v uv) || fail "uv is missing: run \`make image-test\`"
  rm -rf "$validator"
  "$uv" venv --quiet --python "${PYTHON:-.venv/bin/python}" "$validator"
  "$uv" pip install --quiet --python "$validator/bin/python" --require-hashes -r tests/image/requirements.lock
  cp tests/image/requirements.lock "$validator/.installed-lock"
fi

builder inspect --type image "$image" >"$store/config.json"
container=$(builder from --pull-never "$image")
trap 'builder rm "$container" >/dev/null' EXIT
DESTAGE_IMAGE=$(builder mount "$container")
export DESTAGE_IMAGE DESTAGE_IMAGE_CONFIG=$store/config.json DESTAGE_SBOM_VALIDATOR=$validator/bin/python
"${PYTEST:-.venv/bin/pytest}" -m image tests/image "$@"
