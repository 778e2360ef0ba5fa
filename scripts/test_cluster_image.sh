#!/usr/bin/env bash
# Builds the image for the test cluster: the layout of image/Dockerfile on the Debian root of the test cluster, without
# Docker and a registry. DESTAGE_WHEEL is a wheel to use instead of building one.
# Usage: test_cluster_image.sh TEST_CLUSTER OUT.tar
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/log.sh
. scripts/log.sh
# shellcheck source=scripts/versions.sh
. scripts/versions.sh

home=$1 out=$2
python=${PYTHON:-.venv/bin/python}
version=$(project_version)
name=example.local/destage:$version
root=$home/destage-root
wheels=$home/wheels

# inside COMMAND: runs a command in the root.
inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/bin HOME=/tmp SSL_CERT_FILE=/tmp/ca.crt \
    ${UV_INDEX_URL:+UV_INDEX_URL="$UV_INDEX_URL"} sh -ec "$1"
}

if [ -z "${DESTAGE_WHEEL:-}" ]; then
  say "building the wheel"
  rm -rf "$wheels"
  VIRTUAL_ENV=$PWD/.venv PATH=$PWD/.venv/bin:$PATH CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/engine/target} \
    maturin build --release --locked --quiet --compatibility linux --auditwheel skip --interpreter "$python" --out "$wheels"
  DESTAGE_WHEEL=$(echo "$wheels"/*.whl)
fi
made_of=$(sha256sum "$DESTAGE_WHEEL" image/* scripts/test_cluster_image.sh scripts/wrap_image.py | cut -d ' ' -f 1)
if [ -f "$out" ] && [ "$made_of" = "$(cat "$out.of" 2>/dev/null)" ]; then
  exit
fi
say "building the image $name"
base_of=$(sha256sum image/requirements.lock scripts/test_cluster_image.sh)
if [ "$base_of" != "$(cat "$root.of" 2>/dev/null)" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  tar -C "$home/rootfs" --exclude=./opt/ray -cf - . | tar -C "$root" -xf -
  sed -i '/\/opt\/ray/d' "$root/etc/profile"
  # shellcheck disable=SC2016 # the shell inside expands it
  inside '
    groupadd --gid 1000 destage
    useradd --uid 1000 --gid 1000 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin destage
    echo "export PATH=/opt/destage/bin:\$PATH" > /etc/profile.d/destage.sh'
  install -D "$(command -v uv || echo "$PWD/.venv/bin/uv")" "$root/tmp/uv"
  cp image/requirements.lock "$root/tmp/lock"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  cp /etc/ssl/certs/ca-certificates.crt "$root/tmp/ca.crt"
  inside '
    python3 -m venv /opt/destage
    /tmp/uv pip install --quiet --no-cache --compile-bytecode --python /opt/destage/bin/python --no-build --require-hashes -r /tmp/lock'
  printf '%s\n' "$base_of" >"$root.of"
fi
cp "$DESTAGE_WHEEL" image/sbom.py engine/Cargo.lock "$root/tmp/"
image/crates.sh >"$root/tmp/crates.txt"
inside '
  /opt/destage/bin/pip install --quiet --no-cache-dir --no-deps --no-index --force-reinstall --disable-pip-version-check /tmp/*.whl
  /opt/destage/bin/python /tmp/sbom.py /tmp/Cargo.lock /tmp/crates.txt > /opt/destage/sbom.cdx.json'
rm -f "$root/opt/destage/.lock" # uv's
find "$root/tmp" -mindepth 1 -delete
"$python" scripts/wrap_image.py "$name" "$out.part" "$root"
mv "$out.part" "$out"
printf '%s\n' "$made_of" >"$out.of"
