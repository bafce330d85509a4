#!/usr/bin/env bash
# Kills the service over a folder and over RDF4J, an RDF4J server, and services whose indexes follow, over a folder and over RDF4J with
# three nodes of OpenSearch, while clients write: 200 times or 100 times each, as a release asks for, in about an hour and a half.
# Migrations of schemas are killed 50 times in each direction.
# `cargo test -p soml-servers -- --ignored kills` does so a few times.
#
#   KILLS_SEED=N scripts/kills.sh
#
# Needs what scripts/servers.sh needs.
set -euo pipefail
cd "$(dirname "$0")/.."

# The repositories of a whole run, and transactions that nobody ends, need more than other tests leave a server.
export _JAVA_OPTIONS=${_JAVA_OPTIONS:--Xmx2g}

cargo test -p soml-servers --test all --no-run
started=()
stop() {
  if [ "${#started[@]}" -gt 0 ]; then scripts/servers.sh stop "${started[@]}"; fi
}
trap stop EXIT
for server in rdf4j mongodb; do
  if ! scripts/servers.sh env "$server" > /dev/null 2>&1; then
    started+=("$server")
    scripts/servers.sh start "$server"
  fi
done
servers=$(scripts/servers.sh env rdf4j mongodb)
eval "$servers"

run() {
  KILLS=$1 cargo test -p soml-servers --test all -- --include-ignored --nocapture "kills::$2"
}
run 200 a_service_over_a_folder
run 200 a_service_that_is_killed
run 100 a_server_that_is_killed
run 100 searches::
run 50 a_migration_from
