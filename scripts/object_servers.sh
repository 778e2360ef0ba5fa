#!/usr/bin/env bash
# Builds the object servers of `make objects-test` and `make cluster-test`: versitygw (S3) and fake-gcs-server (Google) from
# source, at the versions of scripts/object-servers/go.mod, and installs Azurite (Azure) at the version of
# package-lock.json. They are kept in the cache. Prints a line for each: `name: program`, or `name: skipped: reason`.
# Usage: object_servers.sh [name ...]; default: all.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/log.sh
. "$root/scripts/log.sh"
sources=$root/scripts/object-servers
cache=${DESTAGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/destage}
bin=$cache/bin
least_node=18

# from_go NAME PACKAGE: builds a program if it is not in the cache, and prints its line.
from_go() {
  local name=$1 package=$2 stamp=$bin/.$1
  if ! cmp -s "$sources/go.sum" "$stamp" || ! [ -x "$bin/$name" ]; then
    if ! command -v go >/dev/null 2>&1; then
      echo "$name: skipped: the build needs Go 1.26 or later (https://go.dev/dl)"
      return
    fi
    say "building $name (once, a few minutes)"
    mkdir -p "$bin"
    if ! (cd "$sources" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -p 2 -trimpath -ldflags "-s -w" -o "$bin/$name" "$package") >&2; then
      echo "$name: skipped: the build failed; check the connection to the Go module proxy"
      return
    fi
    cp "$sources/go.sum" "$stamp"
  fi
  echo "$name: $bin/$name"
}

azurite() {
  local home=$cache/azurite version
  if ! cmp -s "$sources/package-lock.json" "$home/.installed-lock"; then
    version=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\).*/\1/p')
    if ! command -v npm >/dev/null 2>&1 || [ "${version:-0}" -lt "$least_node" ]; then
      echo "azurite: skipped: needs npm and Node.js $least_node or later"
      return
    fi
    say "installing Azurite (once, a minute)"
    rm -rf "$home"
    mkdir -p "$home"
    cp "$sources/package.json" "$sources/package-lock.json" "$home/"
    if ! npm ci --prefix "$home" --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error >&2; then
      echo "azurite: skipped: the installation failed; check the connection to the npm registry"
      return
    fi
    cp "$sources/package-lock.json" "$home/.installed-lock"
  fi
  echo "azurite: $home/node_modules/.bin/azurite-blob"
}

[ $# -gt 0 ] || set -- versitygw fake-gcs-server azurite
for name in "$@"; do
  case $name in
    versitygw) from_go versitygw github.com/versity/versitygw/cmd/versitygw ;;
    fake-gcs-server) from_go fake-gcs-server github.com/fsouza/fake-gcs-server ;;
    azurite) azurite ;;
    *) fail "unknown server $name: use versitygw, fake-gcs-server or azurite" ;;
  esac
done
