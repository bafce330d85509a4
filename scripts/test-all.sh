#!/usr/bin/env bash
# Runs all tests, those included that need more than the Rust toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=0
need() {
  if ! command -v "$1" > /dev/null; then
    echo "missing: $1 ($2)" >&2
    missing=1
  fi
}

need chromedriver "on Debian: apt-get install chromium-driver"
if ! command -v chromium > /dev/null && ! command -v google-chrome > /dev/null; then
  echo "missing: chromium (on Debian: apt-get install chromium)" >&2
  missing=1
fi
need node "on Debian: apt-get install nodejs"
need npm "on Debian: apt-get install npm"
if [ "$missing" -ne 0 ]; then
  echo "see CONTRIBUTING.md" >&2
  exit 1
fi

exec cargo test --workspace "$@" -- --include-ignored
