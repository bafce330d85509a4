#!/usr/bin/env bash
# Checks that tests find faults: each patch under scripts/seeded-faults/CRATE/ is a mistake in that crate, and
# some test must fail for it.
#
#   scripts/seeded-faults.sh [CRATE|CRATE/NAME...]
#
# object-engine: the engine forgets one path on which rights matter; the tests of access have ACCESS_CASES
#   cases each to find it (2,000).
# federation: the planner or the executor makes a mistake; the random test of the gateway has FEDERATION_CASES
#   cases to find it (2,000), and prints the first one that does.
#
# Runs all patches, those of a crate, or those named. They are applied one at a time to a copy of the working tree
# in the target folder, and cargo builds there. A patch that no longer applies or compiles is a failure too: the
# crate has changed, and the fault is to be written anew.
set -euo pipefail
cd "$(dirname "$0")/.."

export ACCESS_CASES=${ACCESS_CASES:-2000}
export FEDERATION_CASES=${FEDERATION_CASES:-2000}
export FEDERATION_SEED=1
# A fault may keep a test from ever ending.
minutes=${SEEDED_FAULT_MINUTES:-20}

root=$PWD
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
faults=$root/scripts/seeded-faults
copy=$CARGO_TARGET_DIR/seeded-faults/copy
log=$CARGO_TARGET_DIR/seeded-faults/log
# The copy lies in a folder that git ignores; it is no part of this repository.
export GIT_CEILING_DIRECTORIES=$CARGO_TARGET_DIR/seeded-faults

fail() {
  echo "$*" >&2
  exit 1
}

# Prints the patches of an argument, without the ending.
named() {
  if [ -d "$faults/$1" ]; then
    for file in "$faults/$1"/*.patch; do
      echo "$1/$(basename "$file" .patch)"
    done
  elif [ -e "$faults/$1.patch" ]; then
    echo "$1"
  else
    fail "there is no crate and no patch $1 in scripts/seeded-faults"
  fi
}

# Sets how the tests of a crate are run that have to find its faults.
tests_of() {
  case $1 in
    object-engine) tests=(-p soml-object-engine --test all) filter=leaks:: ;;
    federation)
      tests=(-p soml-federation --all-features --test all)
      filter=random::the_gateway_answers_as_one_executor_over_all_data_would
      ;;
    *) fail "nothing is known of tests of $1" ;;
  esac
}

# Prints what found a fault, as the log of its tests says.
finder() {
  case $1 in
    object-engine)
      sed -n 's/^test \(leaks::[a-z_:]*\) \.\.\. FAILED$/\1/p; s/^    \(leaks::[a-z_:]*\)$/\1/p' "$log" |
        sort -u | paste -sd ' '
      ;;
    federation) sed -n 's/^FEDERATION_SEED=\([0-9]*\) .*/case \1/p' "$log" | head -n 1 ;;
  esac
}

build() { (cd "$copy" && cargo test -q "${tests[@]}" --no-run) > "$log" 2>&1; }
run() { (cd "$copy" && timeout "$((minutes * 60))" cargo test -q "${tests[@]}" "$filter") > "$log" 2>&1; }

wanted=$([ $# -gt 0 ] || set -- object-engine federation; for name in "$@"; do named "$name"; done)

rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard |
  tar --create --null --files-from - --ignore-failed-read 2> /dev/null | tar --extract --directory "$copy"
# What was built last may have had a fault in files that look older than it.
find "$copy" -name '*.rs' -exec touch {} +

last=
failed=0
echo "| fault | found by |"
echo "|---|---|"
for name in $wanted; do
  crate=${name%%/*}
  patch=$faults/$name.patch
  tests_of "$crate"
  if [ "$crate" != "$last" ]; then
    build || { cat "$log" >&2; fail "$crate does not compile without any fault"; }
    run || { cat "$log" >&2; fail "the tests of $crate fail without any fault"; }
    last=$crate
  fi
  if ! (cd "$copy" && git apply "$patch") > "$log" 2>&1; then
    found="DOES NOT APPLY: $(head -n 1 "$log")"
    failed=1
  else
    if ! build; then
      found="DOES NOT COMPILE: $(grep -m 1 '^error' "$log")"
      failed=1
    elif run; then
      found="NOT FOUND"
      failed=1
    else
      found=$(finder "$crate")
      [ -n "$found" ] || { found="NO CASE: $(tail -n 1 "$log")" && failed=1; }
    fi
    (cd "$copy" && git apply --reverse "$patch")
  fi
  echo "| $name | $found |"
done
exit "$failed"
