# shellcheck shell=bash
# What a script tells people, sourced by those of this folder: a step on stderr, one line and exit 1 where something
# is wrong, one line on stdout and exit 0 where something cannot be done here by nobody's mistake.

say() { printf '==> %s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

skip() {
  printf 'skipped: %s\n' "$*"
  exit 0
}
