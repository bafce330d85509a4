#!/usr/bin/env bash
# Runs good and bad clients against the service for a while.
#
#   scripts/soak.sh [SECONDS] [soak|fairness|burst|beside|connections|mixed]
#
# Ten minutes of all kinds of clients when nothing is given; for `connections`, the time is for each
# number of them. Prints what the good clients noticed (requests a second, median and p99), the statuses
# that the bad ones got, and the memory of the service: before, at most, and afterwards. Builds with
# PROFILE (default: dist).
#
# MEMORY bounds the memory of the service in MiB: by a control group where one can be made, else the
# budget alone is set, and the address space is bounded to four times as much.
# HARM names kinds of bad clients, such as "stalls,values", where not all are wanted.
# ARGUMENTS are further arguments of `soml serve`, such as "--set graphql.slots=4".
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-600}
trial=${2:-soak}
profile=${PROFILE:-dist}
universities=${UNIVERSITIES:-8}
[[ $seconds =~ ^[0-9]+$ ]] || {
  sed -n 's/^# \{0,1\}//; 4p' "$0" >&2
  exit 2
}

cargo build --quiet --profile "$profile" -p soml-servers --bin soml
cargo build --quiet --profile "$profile" -p benches --bin university --bin soak
programs=${CARGO_TARGET_DIR:-target}/$profile
work=$(mktemp -d)
group=
service=

stop() {
  if [ -n "$service" ]; then
    kill "$service" 2> /dev/null || true
    wait "$service" 2> /dev/null || true
  fi
  if [ -n "$group" ]; then
    rmdir "$group" 2> /dev/null || true
  fi
  rm -rf "$work"
}
trap stop EXIT

"$programs/university" --universities "$universities" --seed 42 --format nt --output "$work/data.nt"

# Only who writes needs mutations.
schema=$work/university.yaml
sed "s/enable_mutations: false/enable_mutations: $([ "$trial" = mixed ] && echo true || echo false)/" \
  benches/university.yaml > "$schema"
arguments=(--schema "$schema" --data "$work/data.nt" --port 0)
read -ra further <<< "${ARGUMENTS:-}"
if [ -n "${MEMORY:-}" ]; then
  bytes=$((MEMORY * 1024 * 1024))
  # Version 2 of control groups, or version 1. A folder elsewhere would hold a plain file and bound nothing.
  limit=
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    limit=/sys/fs/cgroup/soml-soak/memory.max
  elif [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
    limit=/sys/fs/cgroup/memory/soml-soak/memory.limit_in_bytes
  fi
  if [ -n "$limit" ] && mkdir "$(dirname "$limit")" 2> /dev/null; then
    if echo "$bytes" 2> /dev/null > "$limit"; then
      group=$(dirname "$limit")
      echo "The service runs in a control group of $MEMORY MiB."
    else
      rmdir "$(dirname "$limit")" 2> /dev/null || true
    fi
  fi
  if [ -z "$group" ]; then
    echo "No control group can be made here: the address space is bounded to $((4 * MEMORY)) MiB."
    arguments+=(--set "http.memoryBudget=$((bytes / 4))")
  fi
fi

start() {
  if [ -n "$group" ]; then
    echo "$BASHPID" > "$group/cgroup.procs"
  elif [ -n "${MEMORY:-}" ]; then
    ulimit -v $((4 * MEMORY * 1024))
  fi
  exec "$programs/soml" serve "${arguments[@]}" "${further[@]}" > "$work/out" 2> "$work/log"
}
start &
service=$!

url=
for _ in $(seq 600); do
  url=$(sed -n 's/^GraphQL: *\(.*\)\/graphql$/\1/p' "$work/out" 2> /dev/null || true)
  [ -z "$url" ] || break
  kill -0 "$service" 2> /dev/null || {
    cat "$work/log" >&2
    exit 1
  }
  sleep 0.5
done
[ -n "$url" ] || {
  echo "the service does not start" >&2
  exit 1
}
until curl --silent --fail --output /dev/null "$url/__ready"; do sleep 0.5; done

"$programs/soak" --url "$url" --pid "$service" --universities "$universities" --time "$seconds" --trial "$trial" ${HARM:+--harm "$HARM"}
echo
echo "Lines in the log of the service, by level:"
sed 's/\x1b\[[0-9;]*m//g' "$work/log" | awk '{ print $2 }' | sort | uniq -c
