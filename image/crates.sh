#!/bin/sh
# Prints the crates linked into the engine, one per line: `name vVERSION`, and the folder of our own.
set -eu
cd "$(dirname "$0")/../engine"
exec cargo tree --package destage-bindings --edges normal,no-proc-macro --prefix none --no-dedupe --format '{p}' --locked
