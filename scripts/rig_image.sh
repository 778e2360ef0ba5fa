#!/usr/bin/env bash
# Makes the project's image for the tests' own Kubernetes: the layout of image/Dockerfile on a Debian root that
# the rig has, without Docker and without a registry. DESTAGE_WHEEL names a wheel that is built already.
# Usage: rig_image.sh RIG MKIMAGE OUT.tar
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rig=$1 mkimage=$2 out=$3
python=${PYTHON:-.venv/bin/python}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml | head -n 1)
name=example.local/destage:$version
root=$rig/destage-root
wheels=$rig/wheels

say() { printf '==> %s\n' "$*" >&2; }

if [ -z "${DESTAGE_WHEEL:-}" ]; then
  say "building the wheel"
  rm -rf "$wheels"
  VIRTUAL_ENV=$PWD/.venv PATH=$PWD/.venv/bin:$PATH CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/engine/target} \
    maturin build --release --locked --quiet --compatibility linux --auditwheel skip --interpreter "$python" --out "$wheels"
  DESTAGE_WHEEL=$(echo "$wheels"/*.whl)
fi
if [ -f "$out" ] && [ -f "$out.of" ] && cat "$DESTAGE_WHEEL" image/requirements.lock | cmp -s - "$out.of"; then
  exit
fi
say "making the image $name"
if ! cmp -s image/requirements.lock "$root/opt/destage/.lock" 2>/dev/null; then
  rm -rf "$root"
  mkdir -p "$root"
  tar -C "$rig/rootfs" --exclude=./opt/ray -cf - . | tar -C "$root" -xf -
  uv=$(command -v uv || echo "$PWD/.venv/bin/uv")
  install -D "$uv" "$root/tmp/uv"
  cp image/requirements.lock "$root/tmp/lock"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  cp /etc/ssl/certs/ca-certificates.crt "$root/tmp/ca.crt"
  chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp SSL_CERT_FILE=/tmp/ca.crt ${UV_INDEX_URL:+UV_INDEX_URL="$UV_INDEX_URL"} sh -ec '
    python3 -m venv /opt/destage
    /tmp/uv pip install --quiet --no-cache --compile-bytecode --python /opt/destage/bin/python --require-hashes -r /tmp/lock'
  cp image/requirements.lock "$root/opt/destage/.lock"
fi
cp "$DESTAGE_WHEEL" "$root/tmp/"
# shellcheck disable=SC2016 # the shell inside expands it
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/bin HOME=/tmp sh -ec '
  /opt/destage/bin/pip install --quiet --no-cache-dir --no-deps --no-index --force-reinstall --disable-pip-version-check /tmp/*.whl
  rm -f /tmp/*.whl
  grep -q destage /etc/passwd || { groupadd --gid 1000 destage; useradd --uid 1000 --gid 1000 --home-dir /tmp --no-create-home destage; }
  echo "export PATH=/opt/destage/bin:\$PATH" > /etc/profile.d/destage.sh'
"$python" "$mkimage" "$name" "$out.part" "$root" USER=1000:1000 PATH=/opt/destage/bin:/usr/local/bin:/usr/bin:/bin HOME=/tmp PYTHONDONTWRITEBYTECODE=1 RAY_USAGE_STATS_ENABLED=0
mv "$out.part" "$out"
cat "$DESTAGE_WHEEL" image/requirements.lock > "$out.of"
