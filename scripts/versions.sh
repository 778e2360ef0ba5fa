# shellcheck shell=bash
# Versions, sourced by the scripts of this folder.

# at_least LEAST VERSION: whether the dotted VERSION is LEAST or later.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# project_version: prints the one that pyproject.toml of the working directory has.
project_version() { sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml | head -n 1; }
