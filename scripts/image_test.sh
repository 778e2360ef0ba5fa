#!/usr/bin/env bash
# `make image-test`: builds image/Dockerfile step by step with buildah, without Docker and without a registry, and
# tests what comes out. RUST_IMAGE and PYTHON_IMAGE name the bases, which are then pulled; without them each is
# stood in for by Debian's packages: this machine's Rust on bookworm, and the Python 3.13 of trixie.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/telling.sh
. scripts/telling.sh
# shellcheck source=scripts/versions.sh
. scripts/versions.sh

store=${DESTAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/destage}/image
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
version=$(project_version)
image=localhost/destage:$version

# builder ARGS: buildah with a storage of its own.
builder() { buildah --root "$store/storage" --runroot "$store/run" "$@"; }

# id_of IMAGE: prints its digest, or nothing where it is not there.
id_of() { builder images --quiet --no-trunc "$1" 2>/dev/null || true; }

# debian SUITE PACKAGES: prints a new container with these packages of Debian.
debian() {
  local container
  command -v mmdebstrap >/dev/null 2>&1 || fail "install mmdebstrap, or name the bases by RUST_IMAGE and PYTHON_IMAGE"
  mmdebstrap --quiet --mode=root --variant=minbase --include="ca-certificates,$2" \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    "$1" "$store/root.tar" "$mirror" >&2 || fail "Debian's packages cannot be had from $mirror (DEBIAN_MIRROR)"
  container=$(builder from scratch)
  builder add --quiet "$container" "$store/root.tar" / >/dev/null
  rm "$store/root.tar"
  # Whom this machine trusts (a proxy between, perhaps) the steps of the build trust, too.
  builder copy --quiet "$container" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ >/dev/null
  builder config --env PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  printf '%s\n' "$container"
}

# stand_in_for_rust, stand_in_for_python: print the name of the base, made if it is not there.
stand_in_for_rust() {
  local name container folder toolchain
  toolchain=$(cd engine && rustc --print sysroot) || fail "install Rust, or name a base with it by RUST_IMAGE"
  name=localhost/rust:$(cd engine && rustc --version | cut -d ' ' -f 2)-bookworm
  if [ -z "$(id_of "$name")" ]; then
    say "making $name"
    container=$(debian bookworm gcc,libc6-dev)
    folder=$(builder mount "$container")
    tar -C "$toolchain" --exclude=./share --exclude=./lib/rustlib/src -cf - . | tar -C "$folder/usr/local" -xf -
    builder commit --quiet --rm "$container" "$name" >/dev/null
  fi
  printf '%s\n' "$name"
}

stand_in_for_python() {
  local name=localhost/python:3.13-trixie container
  if [ -z "$(id_of "$name")" ]; then
    say "making $name"
    container=$(debian trixie netbase,tzdata,python3,python3-venv)
    builder commit --quiet --rm "$container" "$name" >/dev/null
  fi
  printf '%s\n' "$name"
}

[ "$(id -u)" = 0 ] || skip "a build without a daemon needs root here"
command -v buildah >/dev/null 2>&1 || skip "buildah is missing (Debian, Ubuntu: apt-get install buildah)"
mkdir -p "$store"
exec 9>"$store/.lock"
flock --timeout 3600 9 || fail "another build has used $store for an hour"
builder rm --all >/dev/null # what a run that was killed left

rust=${RUST_IMAGE:-$(stand_in_for_rust)}
python=${PYTHON_IMAGE:-$(stand_in_for_python)}
say "building image/Dockerfile on $rust and $python"
former=$(id_of "$image")
builder build --isolation chroot --layers --file image/Dockerfile --tag "$image" \
  --build-arg "RUST_IMAGE=$rust" --build-arg "PYTHON_IMAGE=$python" --build-arg "VERSION=$version" \
  --build-arg "REVISION=$(git rev-parse HEAD)" --build-arg "CREATED=$(git log -1 --format=%cI)" . >&2
if [ -n "$former" ] && [ "$former" != "$(id_of "$image")" ]; then
  builder rmi "$former" >/dev/null # the steps that are still of use stay
fi

validator=$store/validator
if ! cmp -s tests/image/requirements.lock "$validator/.installed-lock"; then
  uv=$(command -v .venv/bin/uv || command -v uv) || fail "uv is missing: run this by \`make image-test\`"
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
