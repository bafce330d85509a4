#!/usr/bin/env bash
# Runs the programs of `benches` one after the other, for the tables of "Latest results" in benches/README.md.
#
#   scripts/measure.sh FOLDER [NAME ...]
#
# Writes a file NAME.md for each table to FOLDER, and about.txt with commit and machine. Takes 40 minutes, in which
# nothing else should run. Builds with PROFILE (default: bench-fast). Names of SPARQL servers (`rdf4j`, `fuseki`) need
# RDF4J_URL or FUSEKI_URL, and are left out without it.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || {
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
profile=${PROFILE:-bench-fast}

commands() {
  cat << END
http embedded_http --connections 1,8 --seconds 1 --rounds 2
values values --universities 1,8,80 --seconds 0.5 --rounds 2
log log_line
log-json log_line --json --connections 1 --to pipe
pages pages
page-after-write page_after_write --objects 2000,20000,200000
writes writes
images-20 image --universities 20 --alone
images-80 image --universities 80 --alone
images-turtle image --universities 20 --alone --format ttl
bound bound
bound-80 bound --universities 80 --instances 30
roles roles
tokens tokens
END
  [ -z "${RDF4J_URL:-}" ] || echo "rdf4j remote --time 2000 --rdf4j $RDF4J_URL"
  [ -z "${FUSEKI_URL:-}" ] || echo "fuseki remote --time 2000 --fuseki $FUSEKI_URL"
}

cargo build --quiet --profile "$profile" -p benches --bins
programs=${CARGO_TARGET_DIR:-target}/$profile
{
  git log -1 --format='commit %h'
  echo "profile $profile, $(nproc) cores, $(awk '/MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo)"
} > "$folder/about.txt"
commands | while read -r name program arguments; do
  [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
  echo "$name: $program $arguments" >&2
  # shellcheck disable=SC2086 # they are words
  "$programs/$program" $arguments > "$folder/$name.md" 2> "$folder/$name.log" < /dev/null
done
