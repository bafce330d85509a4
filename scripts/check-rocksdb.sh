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

# The same packages and features each time, so that RocksDB is built once.
rocksdb=(--package graph-store --package object-engine --package servers
  --features graph-store/remote,graph-store/rocksdb,object-engine/remote,object-engine/rocksdb,servers/rocksdb)
cargo clippy "${rocksdb[@]}" --all-targets "$@" -- -D warnings
RANDOM_TESTS=full DIFFERENTIAL_STORE=rocksdb cargo test "${rocksdb[@]}" --test all "$@" -- \
  on_disk rocksdb cases differential
