# shellcheck shell=bash
# Messages of the scripts in this folder: a step on stderr; an error on stderr and exit 1; a skip on stdout and exit 0.

say() { printf '==> %s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

skip() {
  printf 'skipped: %s\n' "$*"
  exit 0
}
