# shellcheck shell=bash
# Version functions of the scripts in this folder.

# at_least MINIMUM VERSION: succeeds if VERSION is MINIMUM or later.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# project_version: prints the version in pyproject.toml of the working directory.
project_version() { sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml | head -n 1; }
