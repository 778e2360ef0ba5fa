#!/bin/sh
# Prints the crates that are linked into the engine, one a line: `name vVERSION`, and a folder where it is ours.
set -eu
cd "$(dirname "$0")/../engine"
exec cargo tree --package destage-bindings --edges normal,no-proc-macro --prefix none --no-dedupe --format '{p}' --locked
