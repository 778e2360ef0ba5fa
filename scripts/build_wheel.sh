#!/usr/bin/env bash
# Builds the wheel for release: `build_wheel.sh FOLDER [MATURIN_OPTION...]` builds the engine twice, first with counters, which
# the scenarios of wheel/scenarios.jsonl fill, and then with their profile: the compiler places the frequent paths together and
# knows their branches. Results do not depend on it.
#
# PYTHON and MATURIN name the programs, by default those of .venv; CARGO_TARGET_DIR is the folder of both builds. Without
# llvm-profdata, the wheel has no profile. TARGETS names the targets of the second build, by default this machine; the profile
# of this machine then serves all of them.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/log.sh
. "$root/scripts/log.sh"
[ $# -gt 0 ] || fail "usage: scripts/build_wheel.sh FOLDER [MATURIN_OPTION...]"
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
python=${PYTHON:-$root/.venv/bin/python}
maturin=${MATURIN:-$root/.venv/bin/maturin}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/engine/target/wheel}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

# The program of the toolchain: a profile is read by the version of LLVM that writes it.
find_profdata() {
  local sysroot host
  sysroot=$(cd engine && rustc --print sysroot)
  host=$(cd engine && rustc -vV | sed -n 's/^host: //p')
  local program=$sysroot/lib/rustlib/$host/bin/llvm-profdata
  if [ ! -x "$program" ] && command -v rustup >/dev/null 2>&1; then
    (cd engine && rustup component add llvm-tools) >&2 || true
  fi
  [ -x "$program" ] && printf '%s\n' "$program"
}

# build FLAGS FOLDER [MATURIN_OPTION...]: one build of the wheel.
build() {
  local flags=$1 folder=$2
  shift 2
  RUSTFLAGS="${RUSTFLAGS:-} $flags" "$maturin" build --release --locked --quiet --interpreter "$python" --out "$folder" "$@"
}

# build_all FLAGS [MATURIN_OPTION...]: the wheels for release, one for each target.
build_all() {
  local flags=$1 target
  shift
  if [ -z "${TARGETS:-}" ]; then
    build "$flags" "$out" "$@"
    return
  fi
  for target in $TARGETS; do
    say "building the wheel for $target"
    build "$flags" "$out" --target "$target" "$@"
  done
}

if profdata=$(find_profdata); then
  say "building the engine with counters"
  build "-Cprofile-generate=$work/counts" "$work/wheel" --compatibility linux --auditwheel skip
  # Remove the counts that build scripts wrote: the flags apply to them, too.
  rm -rf "$work/counts"
  say "running the training scenarios"
  "$python" scripts/wheel/train.py "$work"/wheel/*.whl
  "$profdata" merge -o "$work/profile" "$work/counts"
  say "building the wheel with the profile"
  build_all "-Cprofile-use=$work/profile" "$@"
else
  say "building the wheel without a profile: llvm-profdata is missing (rustup component add llvm-tools)"
  build_all "" "$@"
fi
