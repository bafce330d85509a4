#!/usr/bin/env bash
# Builds with the store on disk and runs what tests it: opening again, the differential test with
# it as store, and `soml serve --store-path`. Needs a C++ compiler and libclang; RocksDB alone takes
# about half an hour of processor time.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v c++ > /dev/null; then
  echo "missing: c++ (on Debian: apt-get install g++ libclang-dev)" >&2
  exit 1
fi

cargo clippy --package graphql-gen --package servers --all-targets \
  --features graphql-gen/rocksdb,servers/rocksdb "$@" -- -D warnings
cargo test --package graphql-gen --features rocksdb --test on_disk "$@"
DIFFERENTIAL_STORE=rocksdb cargo test --package graphql-gen --features rocksdb --test differential "$@"
cargo test --package servers --features rocksdb --test all on_disk "$@"
