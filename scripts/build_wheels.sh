#!/usr/bin/env bash
# Builds the wheels for release: `build_wheels.sh FOLDER`. They run on every Linux with glibc 2.28 (of 2018) or later, on x86-64
# and aarch64: zig links against that version and compiles for the other architecture, so that no container is needed.
#
# With qemu-user-static and an aarch64 Python below AARCH64_ROOT, the wheel for aarch64 also runs the golden rows.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/log.sh
. "$root/scripts/log.sh"
[ $# -gt 0 ] || fail "usage: scripts/build_wheels.sh FOLDER"
readonly glibc=manylinux_2_28 zig=0.17.1
targets="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu"
mkdir -p "$1"
out=$(cd "$1" && pwd)

tools=$root/engine/target/zig-$zig
if [ ! -e "$tools/ready" ]; then
  say "installing zig $zig"
  "$root/.venv/bin/uv" venv --quiet --clear --python "$root/.venv/bin/python" "$tools"
  "$root/.venv/bin/uv" pip install --quiet --python "$tools/bin/python" "ziglang==$zig"
  touch "$tools/ready"
fi
for target in $targets; do
  (cd "$root/engine" && rustup target add "$target") >&2
done

# maturin runs `python3 -m ziglang`.
PATH="$tools/bin:$PATH" TARGETS=$targets CARGO_TARGET_DIR=$root/engine/target/wheels \
  "$root/scripts/build_wheel.sh" "$out" --zig --compatibility "$glibc"

if [ -n "${AARCH64_ROOT:-}" ]; then
  say "running the golden rows on aarch64"
  wheel=$(find "$out" -name '*aarch64.whl' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
  PYTHONPATH=$root/tests "$root/.venv/bin/python" -m golden.foreign_wheel "$wheel" \
    qemu-aarch64-static -L "$AARCH64_ROOT" "$AARCH64_ROOT/usr/bin/python3.11"
fi
