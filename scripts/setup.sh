#!/usr/bin/env bash
# Sets up what the Makefile's targets need: `setup.sh python` creates .venv with the locked dependencies, `setup.sh engine`
# builds the engine into it, `setup.sh lints` adds Rust's clippy and rustfmt, `setup.sh object-server` installs the tests'
# S3 server into an environment of its own inside .venv, `setup.sh browser` installs Chromium on Debian, if there is none, and
# `setup.sh fio` fio, `setup.sh image` buildah and mmdebstrap.
#
# Missing requirements are reported in one line, before anything is installed. Nothing outside the clone is changed, except
# that rustup installs a Rust toolchain if there is none, and the last three, run by root, packages.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/log.sh
. "$root/scripts/log.sh"
# shellcheck source=scripts/versions.sh
. "$root/scripts/versions.sh"
venv=$root/.venv
lock=$root/requirements.lock
least_python=3.11
# The toolchain that is installed if there is none.
rust=1.95.0
least_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/engine/Cargo.toml")

# rustup's own folder is not on PATH until the next login, and an older cargo may be.
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
export CARGO_TARGET_DIR=$root/engine/target
export CARGO_BUILD_JOBS=${CARGO_BUILD_JOBS:-2}
# An active environment would receive the installs.
unset VIRTUAL_ENV CONDA_PREFIX PYTHONHOME PYTHONPATH

# is_python PROGRAM: succeeds if the program is a Python that is new enough.
is_python() {
  local version
  version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) &&
    at_least "$least_python" "$version"
}

# Prints the first interpreter that is new enough, preferring versions for which all dependencies have wheels.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3.13 python3.12 python3.11 python3.14 python3 python; do
    if is_python "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

has_linker() {
  local program status=0
  program=$(mktemp) || return 1
  echo 'int main(void) { return 0; }' | cc -x c -o "$program" - >/dev/null 2>&1 || status=1
  rm -f "$program"
  return "$status"
}

# Prints the version of the Rust toolchain that the clone uses.
rust_version() { (cd "$root/engine" && cargo --version && rustc --version) 2>/dev/null | sed -n 's/^rustc \([0-9.]*\).*/\1/p'; }

has_rust() {
  local version
  version=$(rust_version) && [ -n "$version" ] && at_least "$least_rust" "$version"
}

# One version of rustup's installer, by digest. rustup itself verifies the toolchain.
rustup_site=https://static.rust-lang.org/rustup/archive/1.28.2
rustup_digest() {
  case "$1" in
    x86_64-unknown-linux-gnu) echo 20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c ;;
    aarch64-unknown-linux-gnu) echo e3853c5a252fca15252d07cb23a1bdd9377a8c6f3efa01531109281ae47f841c ;;
    x86_64-apple-darwin) echo 9c331076f62b4d0edeae63d9d1c9442d5fe39b37b05025ec8d41c5ed35486496 ;;
    aarch64-apple-darwin) echo 20ef5516c31b1ac2290084199ba77dbbcaa1406c45c1d978ca68558ef5964ef5 ;;
    *) return 1 ;;
  esac
}
rust_advice="Rust $least_rust or later with clippy and rustfmt (https://rustup.rs, or \`rustup update stable\`)"

reaches() { curl --proto '=https' --tlsv1.2 -sSfI --connect-timeout 10 -o /dev/null "$1" 2>/dev/null; }

can_install_rust() {
  local target
  command -v rustup >/dev/null 2>&1 && return
  target=$(rustup_target) && rustup_digest "$target" >/dev/null && reaches "$rustup_site/$target/rustup-init"
}

rustup_target() {
  case "$(uname -s)" in
    Linux) echo "$(uname -m)-unknown-linux-gnu" ;;
    Darwin) echo "$(uname -m | sed 's/^arm64$/aarch64/')-apple-darwin" ;;
    *) return 1 ;;
  esac
}

sha256_of() { if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }

# fetch_rustup FILE: downloads the installer; fails if its digest differs.
fetch_rustup() {
  local target
  target=$(rustup_target)
  curl --proto '=https' --tlsv1.2 -sSf -o "$1" "$rustup_site/$target/rustup-init" || return 1
  [ "$(sha256_of "$1")" = "$(rustup_digest "$target")" ] || fail "the installer of rustup has another digest than the pinned one; nothing was run"
  chmod +x "$1"
}

install_rust() {
  say "installing Rust with rustup; if this fails, install $rust_advice"
  if command -v rustup >/dev/null 2>&1; then
    rustup toolchain install stable --profile minimal --component clippy,rustfmt >&2 || fail "install $rust_advice"
    return
  fi
  local folder status=0
  folder=$(mktemp -d) || fail "cannot make a temporary folder"
  fetch_rustup "$folder/rustup-init" &&
    "$folder/rustup-init" -y -q --no-modify-path --profile minimal --default-toolchain "$rust" \
      --component clippy,rustfmt >&2 || status=1
  rm -rf "$folder"
  [ "$status" = 0 ] || fail "install $rust_advice"
}

# The packages under src/destage are symbolic links; with core.symlinks=false git checks out text files instead.
require_symlinks() {
  local link links=(src/destage/{engine,sweeps,queries,cluster,examples} engine/python/catalog_data)
  for link in "${links[@]}"; do
    [ -d "$root/$link" ] ||
      fail "$link is not a symbolic link (on Windows, clone inside WSL): git config core.symlinks true && git checkout -- ${links[*]} 'examples/*.parquet'"
  done
}

# Reports all missing requirements in one line.
require() {
  require_symlinks
  local missing=()
  if ! is_python "$venv/bin/python" && ! find_python >/dev/null && ! command -v uv >/dev/null 2>&1; then
    missing+=("Python $least_python or later (Debian, Ubuntu: apt-get install python3 python3-venv; or install uv, which installs Python)")
  fi
  if ! has_linker; then
    missing+=("a C compiler and linker named cc (Debian, Ubuntu: apt-get install gcc libc6-dev; Fedora: dnf install gcc; macOS: xcode-select --install)")
  fi
  if ! has_rust && ! can_install_rust; then
    missing+=("$rust_advice")
  fi
  if [ "${#missing[@]}" -gt 0 ]; then
    printf -v missing_text '%s; ' "${missing[@]}"
    fail "install first: ${missing_text%; }"
  fi
  has_rust || install_rust
  has_rust || fail "Rust $least_rust or later is installed, but PATH has an older one: check \`cargo --version\`"
}

make_venv() {
  local python
  if is_python "$venv/bin/python"; then
    return
  fi
  rm -rf "$venv"
  python=$(find_python || true)
  if command -v uv >/dev/null 2>&1; then
    say "creating .venv with uv"
    uv venv --quiet --python "${python:-$least_python}" "$venv" ||
      fail "uv cannot create .venv: install Python $least_python or later"
    return
  fi
  say "creating .venv with $python -m venv"
  if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
    rm -rf "$venv"
    fail "$python cannot create a virtual environment: install its venv module (Debian, Ubuntu: apt-get install python3-venv) or uv"
  fi
}

install_dependencies() {
  local stamp=$venv/.installed-lock
  if cmp -s "$lock" "$stamp"; then
    touch "$stamp"
    return
  fi
  say "installing the locked dependencies into .venv"
  if command -v uv >/dev/null 2>&1; then
    uv pip install --quiet --python "$venv/bin/python" --require-hashes -r "$lock"
  else
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
  fi || fail "cannot install the dependencies of requirements.lock: check the connection to the package index"
  cp "$lock" "$stamp"
}

build_engine() {
  say "building the engine (release) into .venv"
  # maturin finds the environment by VIRTUAL_ENV; uv, which the lock has, installs without pip.
  (cd "$root" && VIRTUAL_ENV=$venv PATH="$venv/bin:$PATH" "$venv/bin/maturin" develop --release --locked --uv --quiet) >&2 ||
    fail "the build of the engine failed (see above)"
  touch "$venv/.built-engine"
}

# The server needs an older version of python-dateutil than the Kubernetes client, so it cannot share .venv.
install_object_server() {
  local own=$venv/object-server servers_lock=$root/tests/objects/requirements.lock
  cmp -s "$servers_lock" "$own/.installed-lock" && return
  say "installing the tests' S3 server into .venv/object-server"
  rm -rf "$own"
  {
    "$venv/bin/uv" venv --quiet --python "$venv/bin/python" "$own" &&
      "$venv/bin/uv" pip install --quiet --python "$own/bin/python" --require-hashes -r "$servers_lock"
  } || fail "cannot install tests/objects/requirements.lock: check the connection to the package index"
  cp "$servers_lock" "$own/.installed-lock"
}

find_browser() {
  local candidate
  for candidate in ${DESTAGE_TEST_BROWSER:+"$DESTAGE_TEST_BROWSER"} chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$candidate" >/dev/null 2>&1 && return
  done
  return 1
}

install_browser() {
  find_browser && return
  local advice="install Chromium (Debian: apt-get install chromium), or name a browser with DESTAGE_TEST_BROWSER"
  # Ubuntu's package of this name needs snapd, which containers lack.
  { [ "$(id -u)" = 0 ] && grep -qx 'ID=debian' /etc/os-release 2>/dev/null; } || fail "$advice"
  say "installing Chromium for the tests in a browser"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends chromium; } >/dev/null ||
    fail "$advice"
}

# install_programs TESTS PROGRAM...: installs programs that are packages of the same name, for root on Debian. Without them
# the tests that need them are skipped, with the reason.
install_programs() {
  local tests=$1 program missing=()
  shift
  for program; do
    command -v "$program" >/dev/null 2>&1 || missing+=("$program")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "installing ${missing[*]} for the tests of $tests"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "${missing[@]}"; } >/dev/null && return
  fi
  say "not installed (Debian, Ubuntu: apt-get install ${missing[*]}); the tests of $tests are skipped"
}

add_lints() {
  (cd "$root/engine" && cargo clippy --version && cargo fmt --version) >/dev/null 2>&1 && return
  command -v rustup >/dev/null 2>&1 || fail "install clippy and rustfmt beside cargo (Debian, Ubuntu: apt-get install rust-clippy rustfmt)"
  say "adding clippy and rustfmt to the Rust toolchain"
  (cd "$root/engine" && rustup component add clippy rustfmt) >&2 || fail "rustup cannot add clippy and rustfmt"
}

case "${1:-}" in
  python)
    require
    make_venv
    install_dependencies
    ;;
  engine)
    require
    build_engine
    ;;
  lints)
    require
    add_lints
    ;;
  object-server)
    install_object_server
    ;;
  browser)
    install_browser
    ;;
  fio)
    install_programs "imported workloads" fio
    ;;
  image)
    install_programs "the container image" buildah mmdebstrap
    ;;
  *) fail "usage: scripts/setup.sh python | engine | lints | object-server | browser | fio | image" ;;
esac
