#!/usr/bin/env bash
# Searches for inputs that break a parser.
#
#   scripts/fuzz.sh soml|regex|cursors|images|logs|sparql_results|requests|tokens|searches|supergraphs|subgraphs|operations|all [SECONDS]
#
# Ten minutes when no time is given, for each target with `all`. What is found is written to
# fuzz/artifacts/, and what led to new code to fuzz/corpus/, beside the seeds. An input that broke
# something becomes a seed, so that `cargo test -p soml-servers fuzz_seeds` runs it from then on (`cargo test -p soml-search-index fuzz_seeds`
# for searches, `cargo test -p soml-federation fuzz_seeds` for supergraphs, subgraphs and operations).
# Needs a nightly compiler, a C++ compiler and cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "$*" >&2
  exit 1
}

targets=(soml regex cursors images logs sparql_results requests tokens searches supergraphs subgraphs operations)
usage="usage: scripts/fuzz.sh $(IFS='|' && echo "${targets[*]}")|all [SECONDS]"
wanted=${1:-}
seconds=${2:-600}
[[ $seconds =~ ^[0-9]+$ ]] || fail "$usage"
if [ "$wanted" != all ]; then
  [[ -n $wanted && " ${targets[*]} " == *" $wanted "* ]] || fail "$usage"
  targets=("$wanted")
fi

cargo +nightly --version > /dev/null 2>&1 ||
  fail "missing: a nightly compiler (rustup toolchain install nightly --profile minimal)"
cargo fuzz --version > /dev/null 2>&1 ||
  fail "missing: cargo-fuzz (cargo install --locked cargo-fuzz)"
command -v c++ > /dev/null || fail "missing: c++ (on Debian: apt-get install g++)"

# Prints the feature of the fuzz crate that a target needs.
feature_of() {
  case $1 in
    supergraphs | subgraphs | operations) echo gateway ;;
    requests) echo service ;;
    tokens) echo tokens ;;
    soml) echo soml ;;
    regex | images | logs) echo stores ;;
    cursors) echo objects ;;
    searches) echo search ;;
    sparql_results) echo endpoints ;;
  esac
}

# Prints the folder with the seeds of a target; those of a gateway are the files of the scenarios, those of
# composition the sets of its tests.
seeds_of() {
  local cases=federation/tests/cases folder=fuzz/target/seeds/$1
  case $1 in
    soml) folder=soml-core/tests/cases ;;
    supergraphs)
      rm -rf "$folder" && mkdir -p "$folder"
      find "$cases" -name '*.graphql' ! -name query.graphql | while read -r file; do
        cp "$file" "$folder/${file//\//-}"
      done
      ;;
    subgraphs)
      # Each set of a file is a seed.
      rm -rf "$folder" && mkdir -p "$folder"
      for file in federation/tests/composition/{,hints/}*.graphql; do
        awk -v name="$folder/${file##*/}" '/^# /{ set++; next } { print > (name "-" set) }' "$file"
      done
      ;;
    operations)
      rm -rf "$folder" && mkdir -p "$folder"
      find "$cases" -name query.graphql | while read -r file; do
        cp "$file" "$folder/${file//\//-}"
        # Behind a NUL byte stands what all subgraphs answer.
        { cat "$file"; printf '\0{"data":'; cat "${file%/*}/answer.json"; printf '}'; } > "$folder/${file//\//-}.answered"
      done
      ;;
    *) folder=fuzz/seeds/$1 ;;
  esac
  echo "$folder"
}

for target in "${targets[@]}"; do
  seeds=$(seeds_of "$target")
  # An image, a log, and what a gateway is sent, takes no longer than a second and no more than 512 MB. What has been freed is not
  # to count.
  case $target in
    images | logs | supergraphs | subgraphs | operations)
      bounds=(-timeout=1 -rss_limit_mb=512)
      export ASAN_OPTIONS=quarantine_size_mb=16
      ;;
    *) bounds=() ;;
  esac
  mkdir -p "fuzz/corpus/$target"
  cargo +nightly fuzz run --features "$(feature_of "$target")" "$target" "fuzz/corpus/$target" "$seeds" -- -max_total_time="$seconds" "${bounds[@]}"
done
