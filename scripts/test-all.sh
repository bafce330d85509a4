#!/usr/bin/env bash
# Runs all tests, those included that need more than the Rust toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."
# HAProxy and nginx are there on Debian.
PATH=$PATH:/usr/sbin

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
need haproxy "on Debian: apt-get install haproxy"
need curl "on Debian: apt-get install curl"
need openssl "on Debian: apt-get install openssl"
need nginx "on Debian: apt-get install nginx"
need node "on Debian: apt-get install nodejs"
need npm "on Debian: apt-get install npm"
need java "on Debian: apt-get install default-jre-headless"
need mvn "on Debian: apt-get install maven"
if [ "$missing" -ne 0 ]; then
  echo "see CONTRIBUTING.md" >&2
  exit 1
fi

# Built first, so that the servers do not wait for it.
cargo test --workspace "$@" --no-run
export EXAMPLES=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples

# Servers that run already are used, and go on running.
started=()
mounted=
waiting_tests=
stop() {
  if [ -n "$waiting_tests" ]; then
    kill "$waiting_tests" 2> /dev/null || true
  fi
  if [ -n "$mounted" ]; then
    umount "$mounted"
  fi
  if [ "${#started[@]}" -gt 0 ]; then
    scripts/servers.sh stop "${started[@]}"
  fi
}
trap stop EXIT
for server in rdf4j fuseki mongodb keycloak; do
  if ! scripts/servers.sh env "$server" > /dev/null 2>&1; then
    started+=("$server")
    scripts/servers.sh start "$server"
  fi
done
servers=$(scripts/servers.sh env rdf4j fuseki mongodb keycloak)
eval "$servers"

# Who has an OpenSearch server names it; else one is started. Where it cannot be had, as on a disk that is
# nearly full, all other tests still run, unless OPENSEARCH_REQUIRED is set.
skipped=()
if [ -z "${OPENSEARCH_URL:-}" ]; then
  if ! scripts/servers.sh env opensearch > /dev/null 2>&1 && scripts/servers.sh start opensearch; then
    started+=(opensearch)
  fi
  if server=$(scripts/servers.sh env opensearch); then
    eval "$server"
  elif [ -n "${OPENSEARCH_REQUIRED:-}" ]; then
    echo "there is no OpenSearch server, and OPENSEARCH_REQUIRED is set" >&2
    exit 1
  else
    skipped=(--skip opensearch)
  fi
fi
warn_of_skipped() {
  if [[ " ${skipped[*]} " = *" opensearch "* ]]; then
    printf '\n*** NOT TESTED: whatever needs OpenSearch, which cannot be had here; see above ***\n\n' >&2
  fi
}
warn_of_skipped

# A disk that a test fills up. Who may not mount one names a folder on a disk of about 12 MB, or goes without.
if [ -z "${SMALL_DISK:-}" ]; then
  small=$PWD/target/small-disk
  mkdir -p "$small"
  if mount -t tmpfs -o size=12m tmpfs "$small" 2> /dev/null; then
    mounted=$small
    export SMALL_DISK=$small
  else
    printf '\n*** NOT TESTED: a disk that fills up, since none can be mounted here ***\n\n' >&2
    skipped+=(--skip a_disk_that_fills_up)
  fi
fi

# Random tests run all of their input here unless told otherwise, and a tenth of it in a plain `cargo test`.
export RANDOM_TESTS=${RANDOM_TESTS:-full}

# What only measures wants a quiet machine.
for measures in writers_share_slow_syncs a_large_request_is_applied_read_and_committed \
  reads_in_inverse_direction_stay_fast_after_writes reads_stay_fast_beside_writes_and_merges; do
  skipped+=("--skip=$measures")
done

# Modules whose tests mostly wait, for servers that are started, killed and started again, or use one core: they run
# beside all others.
waiting=(federation_check:: keycloak:: kills:: opensearch::)
aside=$PWD/target/waiting-tests.log
cargo test --workspace "$@" --test all -- --include-ignored "${skipped[@]}" "${waiting[@]}" > "$aside" 2>&1 &
waiting_tests=$!

failed=0
cargo test --workspace "$@" -- --include-ignored "${skipped[@]}" "${waiting[@]/#/--skip=}" || failed=1
printf '\nTests that mostly wait, which ran beside the others:\n'
wait "$waiting_tests" || failed=1
waiting_tests=
cat "$aside"
warn_of_skipped
exit "$failed"
